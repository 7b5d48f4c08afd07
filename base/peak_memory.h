#pragma once
#include <cstdint>
#include <optional>

namespace gradwire {

/// The most memory that the process held at a time since this object was made. Gives back to the
/// system what the allocator keeps, first.
class PeakMemory {
 public:
  PeakMemory();
  /// Bytes; empty where the system does not say.
  std::optional<std::int64_t> bytes() const;

 private:
  bool is_reset_;
};

}  // namespace gradwire
