#pragma once
#include <cstddef>
#include <functional>

namespace gradwire::bench {

/// Calls work(0), work(1), ... up to `count`, two at a time, until one returns false. Rethrows what
/// one throws, when both threads have ended.
void in_two_threads(std::size_t count, const std::function<bool(std::size_t)>& work);

}  // namespace gradwire::bench
