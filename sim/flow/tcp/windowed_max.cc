#include "sim/flow/tcp/windowed_max.h"

namespace gradwire::sim {

void WindowedMax::update(std::int64_t value, std::uint32_t round) {
  auto& [best, second, third] = candidates_;
  const Candidate fresh{value, round};
  if (!started_ || value >= best.value || age(third, round) > window_) {
    started_ = true;
    best = second = third = fresh;
    return;
  }
  if (value >= second.value) {
    second = third = fresh;
  } else if (value >= third.value) {
    third = fresh;
  }
  expire(fresh);
}

/// The next ones move up; each later candidate is of a later part of the window.
void WindowedMax::expire(const Candidate& fresh) {
  auto& [best, second, third] = candidates_;
  if (age(best, fresh.round) > window_) {
    best = second;
    second = third;
    third = fresh;
    if (age(best, fresh.round) <= window_) return;
    best = second;
    second = third;
  } else if (second.value == best.value && age(second, fresh.round) > window_ / 4) {
    second = third = fresh;
  } else if (third.value == second.value && age(third, fresh.round) > window_ / 2) {
    third = fresh;
  }
}

}  // namespace gradwire::sim
