#include "bench/codecs/roof.h"

#include <algorithm>
#include <atomic>

#include "base/error.h"
#include "bench/codecs/roof_loops.h"

namespace gradwire::bench {
namespace {

constexpr std::size_t kLine = 16;           // floats
constexpr std::size_t kSmallest = 1 << 16;  // floats a range, as codecs cut
constexpr std::size_t kCached = 1 << 20;    // bytes; larger targets are written past the caches

template <class Body>
std::function<void()> loop_over(std::size_t n, ThreadTeam* team, Body body) {
  return [n, team, body] { for_ranges(team, n, kLine, kSmallest, body); };
}

std::atomic<float> sink;  // what is read must count as used

}  // namespace

Roof::Roof(std::span<const float> source, std::span<float> target, ThreadTeam* team, Rounds& rounds)
    : rounds_(rounds), elements_(source.size()) {
  GRADWIRE_ASSERT(source.size() == target.size());
  const float* from = source.data();
  float* to = target.data();
  const std::size_t n = elements_;
  const bool past = 4 * n > kCached;
  const auto adder = [&](auto body) { return rounds.add(loop_over(n, team, body)); };
  read_ = adder([from](std::size_t b, std::size_t e) { sink = loops::read(from + b, e - b); });
  copy_ = adder([=](std::size_t b, std::size_t e) { loops::copy(from + b, to + b, e - b, past); });
  fill_ = adder([=](std::size_t b, std::size_t e) { loops::fill(to + b, e - b, 0.5f, past); });
  update_ = adder([to](std::size_t b, std::size_t e) { loops::update(to + b, e - b, 1.0f); });
  add_ = adder([=](std::size_t b, std::size_t e) { loops::add(from + b, to + b, e - b); });
}

double Roof::byte_seconds(std::size_t call, double bytes_per_element) const {
  return rounds_.seconds(call) / (bytes_per_element * static_cast<double>(elements_));
}

double Roof::seconds(const Traffic& traffic, std::size_t elements) const {
  const double balanced = std::min(traffic.reads, traffic.writes);
  return static_cast<double>(elements) *
         (2 * balanced * byte_seconds(copy_, 8) +
          (traffic.reads - balanced) * byte_seconds(read_, 4) +
          (traffic.writes - balanced) * byte_seconds(fill_, 4) +
          traffic.updates * byte_seconds(update_, 8) + traffic.adds * byte_seconds(add_, 12));
}

Roof::Speeds Roof::speeds() const {
  return {1e-9 / byte_seconds(read_, 4), 1e-9 / byte_seconds(copy_, 8),
          1e-9 / byte_seconds(fill_, 4), 1e-9 / byte_seconds(update_, 8),
          1e-9 / byte_seconds(add_, 12)};
}

}  // namespace gradwire::bench
