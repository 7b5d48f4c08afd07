#include "compressors/selection_candidates.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "compressors/arithmetic/bits.h"
#include "compressors/kernels/magnitude.h"
#include "compressors/payload.h"
#include "compressors/ranges.h"

namespace gradwire::compressors {
namespace {

constexpr std::size_t kBlock = 16384;  // large: for each, threads wait for a shared counter
constexpr std::size_t kSlack = kernels::kSelectSlack;

kernels::VelocityRule rule_of(const VelocityStep& step, std::size_t begin) {
  return {step.gradient.data() + begin, step.velocity.data() + begin, step.momentum, step.factor};
}

std::size_t blocks_of(std::size_t n) {
  return (n + kBlock - 1) / kBlock;
}

}  // namespace

std::size_t Candidates::words(std::size_t n, std::size_t most) {
  return 4 * blocks_of(n) + 2 * (most + kSlack);
}

Candidates::Candidates(std::string_view codec, const TensorView& tensor, float* residual,
                       ThreadTeam* team, std::size_t most, std::span<std::uint32_t>& scratch)
    : codec_(codec), tensor_(tensor), residual_(residual), team_(team) {
  segments_ = {reinterpret_cast<Segment*>(take_words(scratch, 4 * blocks_of(n())).data()),
               blocks_of(n())};
  // Behind each there is room for a vector's reading.
  indices_ = take_words(scratch, most + kSlack).first(most);
  values_ = take_floats(scratch, most + kSlack).first(most);
}

void Candidates::scan(std::uint32_t lowest, std::uint32_t cleared_from, const Visit& visit) {
  const bool add = residual_ != nullptr;
  visit_ = visit;
  cleared_from_ = add ? cleared_from : kNone;
  scan_all(add, lowest);
  added_ = add;
  visit_ = {};
}

std::size_t Candidates::reaching(std::uint32_t magnitude) const {
  std::size_t count = 0;
  for (const Segment& segment : segments_) {
    const auto counts =
        kernels::count_large(values_.data() + segment.begin, segment.count, magnitude);
    count += counts.above + counts.equal;
  }
  return count;
}

void Candidates::scan_again(std::uint32_t lowest) {
  put_back_all();
  scan_all(false, lowest);
}

void Candidates::scan_all(bool add, std::uint32_t lowest) {
  // Threads that join the loop below see these: the team orders it.
  total_.store(0, std::memory_order_relaxed);
  overflow_.store(false, std::memory_order_relaxed);
  largest_.store(0, std::memory_order_relaxed);
  lowest_ = lowest;
  for_ranges(team_, n(), kBlock, kRangeElements, [&](std::size_t begin, std::size_t end) {
    std::uint32_t indices[kBlock + kSlack], largest = 0;
    float values[kBlock + kSlack];
    for (; begin < end; begin += kBlock) {
      const std::size_t size = std::min(kBlock, end - begin);
      const kernels::Scan scan = scan_block(begin, size, add, indices, values);
      take_sample(begin, begin + size, {indices, scan.count}, {values, scan.count});
      largest = std::max(largest, scan.max_magnitude);
    }
    note_largest(largest);
  });
}

/// From the sums that a scan of the block has left in the cache; of those that it has cleared the
/// values are among what it has found.
void Candidates::take_sample(std::size_t begin, std::size_t end,
                             std::span<const std::uint32_t> indices,
                             std::span<const float> values) const {
  const std::size_t stride = visit_.rule.stride;
  const float* const sums = residual_ == nullptr ? tensor_.data.data() : residual_;
  for (std::size_t i = (begin + stride - 1) / stride; i < visit_.sample.size() && i * stride < end;
       ++i) {
    const std::size_t e = i * stride;
    visit_.sample[i] = sums[e];
    if (residual_ == nullptr || sums[e] != 0) continue;
    const auto found = std::ranges::lower_bound(indices, static_cast<std::uint32_t>(e));
    if (found != indices.end() && *found == e)
      visit_.sample[i] = values[static_cast<std::size_t>(found - indices.begin())];
  }
}

void Candidates::note_largest(std::uint32_t largest) {
  std::uint32_t seen = largest_.load(std::memory_order_relaxed);
  if (team_ == nullptr) return largest_.store(std::max(seen, largest), std::memory_order_relaxed);
  while (seen < largest && !largest_.compare_exchange_weak(seen, largest)) {
  }
}

// One thread needs no locked instructions, which are a small call's dearest.
std::size_t Candidates::add_to_total(std::size_t count) {
  if (team_ != nullptr) return total_.fetch_add(count, std::memory_order_relaxed);
  const std::size_t before = total_.load(std::memory_order_relaxed);
  total_.store(before + count, std::memory_order_relaxed);
  return before;
}

kernels::Scan Candidates::look(std::size_t begin, std::size_t size, bool add,
                               std::uint32_t* indices, float* values) {
  const auto base = static_cast<std::uint32_t>(begin);
  if (!add) return kernels::scan_large(sums() + begin, size, base, lowest_, indices, values);
  if (visit_.step == nullptr)
    return kernels::add_scan_large(tensor_.data.data() + begin, residual_ + begin, size, base,
                                   lowest_, cleared_from_, indices, values);
  return kernels::step_scan_large(rule_of(*visit_.step, begin), residual_ + begin, size, base,
                                  lowest_, cleared_from_, indices, values);
}

kernels::Scan Candidates::scan_block(std::size_t begin, std::size_t size, bool add,
                                     std::uint32_t* indices, float* values) {
  const kernels::Scan scan = look(begin, size, add, indices, values);
  if (scan.max_magnitude >= kInfinityBits) refuse({indices, scan.count}, {values, scan.count});
  const std::size_t at = add_to_total(scan.count);
  Segment& segment = segments_[begin / kBlock];
  if (at + scan.count > values_.size()) {
    overflow_ = true;
    segment = {0, 0, 0, 0};
    if (add) put_back(indices, values, scan.count);
    return scan;
  }
  std::copy_n(indices, scan.count, indices_.data() + at);
  std::copy_n(values, scan.count, values_.data() + at);
  segment = {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(scan.count), 0, 0};
  return scan;
}

// What is not finite is among what was found: no threshold exceeds it.
void Candidates::refuse(std::span<const std::uint32_t> indices, std::span<const float> values) {
  require_finite(codec_, tensor_, kernels::max_magnitude_bits(tensor_.data.data(), n()));
  std::size_t i = 0;
  while (std::isfinite(values[i])) ++i;
  refuse_tensor(codec_, tensor_.name,
                "the tensor and its residual overflow at element " + std::to_string(indices[i]));
}

void Candidates::put_back(const std::uint32_t* indices, const float* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) residual_[indices[i]] = values[i];
}

void Candidates::put_back_all() {
  if (cleared_from_ == kNone) return;
  for (const Segment& segment : segments_)
    put_back(indices_.data() + segment.begin, values_.data() + segment.begin, segment.count);
  cleared_from_ = kNone;
}

/// Turns counts into places, block after block; ties are kept from the lowest index on.
void Candidates::place(const Bound& bound, KeptEntries& kept) {
  std::size_t ties_left = bound.ties;
  for (Segment& segment : segments_) {
    const std::size_t ties = std::min<std::size_t>(segment.ties, ties_left);
    ties_left -= ties;
    kept.ties += ties;
    const std::size_t count = segment.kept + ties;
    segment.kept = static_cast<std::uint32_t>(kept.count);
    segment.ties = static_cast<std::uint32_t>(ties);
    kept.count += count;
  }
}

KeptEntries Candidates::keep(const Bound& bound, KeptEntries kept) {
  constexpr std::size_t kBlocks = kRangeElements / kBlock;
  for_ranges(team_, segments_.size(), 1, kBlocks, [&](std::size_t begin, std::size_t end) {
    for (Segment& segment : segments_.subspan(begin, end - begin)) {
      const auto counts =
          kernels::count_large(values_.data() + segment.begin, segment.count, bound.magnitude);
      segment.kept = counts.above;
      segment.ties = counts.equal;
    }
  });
  place(bound, kept);
  float* sums = added_ ? residual_ : nullptr;
  for_ranges(team_, segments_.size(), 1, kBlocks, [&](std::size_t begin, std::size_t end) {
    // The next range's entries are not to be overwritten.
    const std::size_t limit = end < segments_.size() ? segments_[end].kept : kept.values.size();
    for (const Segment& segment : segments_.subspan(begin, end - begin))
      kernels::keep_large(indices_.data() + segment.begin, values_.data() + segment.begin,
                          segment.count, {bound.magnitude, segment.ties},
                          kept.indices.data() + segment.kept, kept.values.data() + segment.kept,
                          limit - segment.kept, {sums, cleared_from_});
  });
  return kept;
}

Bound Candidates::bound_of_all(std::size_t k) {
  put_back_all();
  return RankedMagnitudes(team_, {sums(), n()}, 0, largest()).at(k);
}

KeptEntries Candidates::keep_of_all(const Bound& bound, KeptEntries kept) {
  put_back_all();
  std::uint32_t indices[kBlock + kSlack];
  float values[kBlock + kSlack];
  std::size_t ties_left = bound.ties;
  for (std::size_t begin = 0; begin < n(); begin += kBlock) {
    const kernels::Scan scan =
        kernels::scan_large(sums() + begin, std::min(kBlock, n() - begin),
                            static_cast<std::uint32_t>(begin), bound.magnitude, indices, values);
    const std::size_t equal = kernels::count_large(values, scan.count, bound.magnitude).equal;
    const std::size_t ties = std::min(equal, ties_left);
    ties_left -= ties;
    kept.ties += ties;
    kept.count +=
        kernels::keep_large(indices, values, scan.count, {bound.magnitude, ties},
                            kept.indices.data() + kept.count, kept.values.data() + kept.count,
                            kept.values.size() - kept.count, {added_ ? residual_ : nullptr, kNone});
  }
  return kept;
}

}  // namespace gradwire::compressors
