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
  /// The state of `key`, of `size` bytes; empty if size is 0. Assertion: always the same size.
  std::span<std::byte> at(const StateKey& key, std::size_t size);
  std::size_t bytes() const;
  /// Those that have state, ascending.
  std::vector<std::int32_t> owners() const;
  void clear() { states_.clear(); }
  void save(std::ostream& out) const;
  /// Replaces everything. The stream's integrity is the caller's to check.
  void load(std::istream& in);

 private:
  mutable std::mutex mutex_;
  std::map<StateKey, std::vector<std::byte>> states_;
};

}  // namespace gradwire::trainers
