#pragma once
#include <chrono>
#include <fstream>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/child_process.h"
#include "base/file_descriptor.h"
#include "base/temporary_file.h"
#include "bridge/order.h"
#include "bridge/processes.h"
#include "bridge/rank_link.h"
#include "bridge/recording.h"

/// The hub runs somebody's script and listens to its ranks: it writes down what they tell, checks
/// that they call alike, and notices who is gone or stands still. Whatever happens, nobody of the
/// script's processes is left when it returns, and what was told is in the file.
///
/// A rank connects to the hub's socket, says who it is ({"e":"hello","r":0,"world":4,"version":1,
/// "torch":"2.11.0","clock":"..."}), then tells events (bridge/recording.h). It is never answered:
/// telling costs it one write. The end of the connection tells it that the hub is gone.
namespace gradwire::bridge {

struct HubOptions {
  std::string recording;  ///< the file; it must not be there
  /// How long ranks may wait for one that does nothing before it counts as hanging.
  std::chrono::milliseconds patience{8000};
  /// Called when the first rank has said how many there are; an Error that it throws ends the
  /// script and becomes the problem.
  std::function<void(int world)> on_world = {};
  /// Asked about ten times a second; true: end the script.
  std::function<bool()> interrupted = {};
  /// Called now and then with the number of steps that all ranks have ended, and of calls.
  std::function<void(std::int64_t steps, std::int64_t calls)> on_progress = {};
};

struct HubReport {
  int exit_code = 0;  ///< of the command
  /// What went wrong, in words for the user; empty: the script ran to its end. Not where the
  /// command itself just failed without any rank having connected: exit_code tells.
  std::string problem;
  bool interrupted = false;
  int ranks = 0;           ///< that connected
  std::int64_t calls = 0;  ///< of all ranks
  std::int64_t steps = 0;  ///< that all ranks have ended
};

/// Name of the variable that tells ranks where the hub is.
inline constexpr const char* kHubVariable = "GRADWIRE_TORCH_HUB";
/// And of the one that says for how many ranks one process stands.
inline constexpr const char* kAlikeVariable = "GRADWIRE_TORCH_ALIKE";

class Hub {
 public:
  /// Begins to listen. Throws Error where it cannot, or where the recording cannot be written.
  explicit Hub(HubOptions options);
  ~Hub();

  /// For kHubVariable.
  const std::string& socket_path() const { return path_; }
  /// Starts the command (kHubVariable must be set), and returns when all its processes are gone.
  /// Throws Error where it cannot be started.
  HubReport run(const std::vector<std::string>& command);

 private:
  using Clock = std::chrono::steady_clock;

  void listen(int milliseconds);
  bool listen_once(int milliseconds);
  void read(RankLink& link);
  void take(RankLink& link, const std::string& line);
  void hello(RankLink& link, const nlohmann::json& message);
  void write(const std::string& line);
  HubReport report(int exit_code) const;
  // What is wrong, or nothing.
  std::string problem();
  std::string conflict();
  std::string lost_rank();
  void close_links_of_gone();
  std::string ended_early() const;
  std::string standstill();
  std::string absent_ranks() const;
  bool lives(int rank) const;
  std::map<pid_t, ProcessUse> uses_of_living() const;
  bool somebody_works();
  std::string who_waits() const;
  std::int64_t steps() const;

  HubOptions options_;
  TemporaryFolder folder_;
  std::string path_;
  FileDescriptor listener_;
  std::ofstream file_;
  std::list<RankLink> links_;
  std::map<int, RankLink*> ranks_;
  std::optional<Header> header_;
  std::unique_ptr<Order> order_;
  std::vector<std::int64_t> steps_;  ///< [world]
  std::int64_t calls_ = 0;
  std::int64_t listened_ = 0;  ///< how often
  std::string broken_;         ///< what a rank told that cannot be
  Clock::time_point last_told_, last_hello_, last_at_work_, last_look_;
  std::optional<Clock::time_point> conflict_seen_, lost_seen_;
  std::map<int, Seconds> cpu_;  ///< of each rank's processes at the last look
};

}  // namespace gradwire::bridge
