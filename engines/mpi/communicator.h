#pragma once
#include <optional>
#include <string>

namespace gradwire::engines {

/// What a message between ranks is.
enum class Tag : int {
  kReport = 1,  ///< to the first rank: lines of JSON (report_lines.h)
  kWork,        ///< to a rank: lines of a work list
  kStop,        ///< to a rank: end the run that is under way after its step
  kEnd,         ///< to a rank: there is no more work
};

struct Message {
  int rank = 0;  ///< that sent it
  Tag tag = Tag::kReport;
  std::string text;
};

/// MPI from its initialisation to its end; one instance, used by the main thread alone.
class Communicator {
 public:
  Communicator(int* argc, char*** argv);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Ranks on this machine, this one included.
  int neighbours() const { return neighbours_; }

  void send(int rank, Tag tag, const std::string& text = {});
  /// A message that has come, without waiting for one.
  std::optional<Message> receive();
  /// Ends all ranks at once.
  [[noreturn]] static void abort();

 private:
  int rank_ = 0, size_ = 1, neighbours_ = 1;
};

}  // namespace gradwire::engines
