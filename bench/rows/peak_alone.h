#pragma once
#include <cstdint>
#include <functional>
#include <optional>

namespace gradwire::bench {

/// The most memory, in bytes, that a process of its own holds which does `work` and nothing else: a
/// copy of this one (fork), whose own memory counts as well. Empty where the system does not say,
/// or the work has failed. For programs of one thread.
std::optional<std::int64_t> peak_alone(const std::function<void()>& work);

}  // namespace gradwire::bench
