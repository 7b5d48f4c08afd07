#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <mutex>
#include <span>
#include <vector>

/// What codecs remember between calls (residuals, momentum), owned by the trainer: one byte span
/// per owner, tensor and direction, made (all zero = fresh) when it is first touched, so that
/// thousands of workers cost what they touch.
namespace gradwire::trainers {

enum class Direction : std::uint8_t { kUp, kDown };

struct StateKey {
  std::int32_t owner = 0;  ///< worker, or -1: the server
  std::int32_t tensor = 0;
  Direction direction = Direction::kUp;
  std::int64_t sample = -1;  ///< where a method keeps state per sample, else -1
  auto operator<=>(const StateKey&) const = default;
};

/// Any thread may call at(); a span stays valid and is used by one thread at a time.
class StateStore {
 public:
  using States = std::map<StateKey, std::vector<std::byte>>;

  /// The state of `key`, of `size` bytes; empty if size is 0. Assertion: always the same size.
  std::span<std::byte> at(const StateKey& key, std::size_t size);
  std::size_t bytes() const;
  /// Bytes of the worker that has most, and of the server (owner -1).
  struct Shares {
    std::int64_t largest = 0, server = 0;
  };
  Shares shares() const;
  /// Those that have state, ascending.
  std::vector<std::int32_t> owners() const;
  void clear() { states_.clear(); }
  /// Everything, and back to it; spans from at() are void then.
  const States& all() const { return states_; }
  void restore(const States& states) { states_ = states; }
  void save(std::ostream& out) const;
  /// Replaces everything. The stream's integrity is the caller's to check.
  void load(std::istream& in);

 private:
  mutable std::mutex mutex_;
  States states_;
};

}  // namespace gradwire::trainers
