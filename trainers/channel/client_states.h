#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trainers/channel/state_file.h"

namespace gradwire::trainers {

/// Where states of clients may lie.
struct StateLimits {
  std::optional<Bytes> memory;           ///< at most so much in memory; none = all of it
  std::string folder;                    ///< what does not fit lies in a file of this folder
  std::string what = "clients' states";  ///< for messages
};

/// What is remembered of each of many between their turns, such as what clients' codecs know from
/// round to round: states of one size, made when a client is first
/// heard. A client proposes its next state, which replaces the one before once it is accepted.
/// States that were used last stay in memory, the others lie in a file. Any thread may call it;
/// what comes out depends neither on the limits nor on the threads.
class ClientStates {
 public:
  ClientStates(std::size_t state_bytes, const StateLimits& limits);

  std::size_t state_bytes() const { return state_bytes_; }
  /// state = what the client remembers; zeros if it was never heard.
  void read(int client, std::vector<std::byte>& state);
  /// Its next state, which is kept where it lies; at most one at a time. Returns memory for another
  /// call of read(), if there is any to spare. Throws TrainerError where the file cannot be
  /// written; what is there stays.
  std::vector<std::byte> propose(int client, std::vector<std::byte> state);
  /// Changes the state that it proposes, or, without one, nothing.
  void amend(int client, const std::function<void(std::span<std::byte>)>& change);
  void accept(int client);
  void discard(int client);

  /// What it remembers is this from now on, without a proposal. Returns memory as propose() does.
  std::vector<std::byte> replace(int client, std::vector<std::byte> state);
  bool knows(int client) const;
  /// Those that remember something, ascending.
  std::vector<std::int32_t> heard() const;
  struct Use {
    std::int64_t memory = 0;   ///< bytes in memory, the most at a time
    std::int64_t file = 0;     ///< bytes of the file
    std::int64_t on_disk = 0;  ///< states that lie in it now
  };
  Use use() const;

  /// State by state, wherever they lie.
  void save(std::ostream& out) const;
  /// Replaces everything.
  void load(std::istream& in);

 private:
  enum class Kind : std::uint8_t { kAccepted, kProposed };
  using Key = std::pair<int, Kind>;
  struct Entry {
    std::vector<std::byte> state;        ///< empty while it lies in the file
    std::int64_t place = -1;             ///< in the file
    std::list<Key>::iterator used = {};  ///< while it is in memory
  };
  using Entries = std::map<Key, Entry>;

  std::vector<std::byte> add(const Key& key, std::vector<std::byte> state);
  void remove(Entries::iterator at);
  void copy(const Entry& entry, std::span<std::byte> state) const;
  std::vector<std::byte> room();

  std::size_t state_bytes_;
  std::size_t most_ = 0;  ///< states in memory
  mutable std::mutex mutex_;
  StateFile file_;
  Entries entries_;
  std::list<Key> used_;  ///< those in memory, the least recently used first
  std::size_t most_used_ = 0;
};

}  // namespace gradwire::trainers
