#include "compressors/selection.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/thread_team.h"
#include "compressors/arithmetic/selection.h"
#include "compressors/kernels/kernels.h"
#include "compressors/kernels/select.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

constexpr std::size_t kBlock = 4096;
constexpr std::size_t kShared = 65536;  // least elements worth a thread
constexpr std::size_t kBins = 2048;
constexpr std::size_t kExactSample = 16384;
constexpr std::size_t kSlack = kernels::kSelectSlack;

/// Candidates that are kept before the selection falls back to counting over the whole tensor.
std::size_t arena_entries(std::size_t n, std::size_t k) {
  return std::min(n, 2 * k + kShared);
}

/// Where one block's candidates lie in the arena.
struct Segment {
  std::uint32_t begin;
  std::uint32_t count;
};

struct Layout {
  std::size_t sample, segments, arena, most;
  std::size_t words() const {
    return kBins + sample + 2 * segments + 2 * arena + 2 * (most + kSlack) + 2;
  }
};

Layout layout_of(std::size_t n, std::size_t k, SelectionRule rule) {
  if (k == 0) return {0, 0, 0, 0};
  return {selection_sample_size(n, k, rule), (n + kBlock - 1) / kBlock, arena_entries(n, k),
          most_selected(n, k, rule)};
}

struct Bound {
  std::uint32_t magnitude = 0;
  std::size_t ties = 0;
};

/// The rank-th largest magnitude of the values, which lie in [low, high]: counts in 2,048 bins,
/// then in the bin that holds it, until a bin is one magnitude wide.
Bound rank_magnitude(std::span<const float> values, std::size_t rank, std::uint32_t low,
                     std::uint32_t high, std::span<std::uint32_t> bins) {
  for (;;) {
    int shift = 0;
    while ((high - low) >> shift >= kBins) ++shift;
    std::fill(bins.begin(), bins.end(), 0u);
    kernels::count_magnitudes(values.data(), values.size(), low, high, shift, bins.data());
    std::size_t bin = kBins;
    while (bins[--bin] < rank) rank -= bins[bin];
    low += static_cast<std::uint32_t>(bin) << shift;
    if (shift == 0) return {low, rank};
    high = std::min(high, low + ((1u << shift) - 1u));
  }
}

/// One selection: its tensor, its residual (or null), and what it keeps in scratch.
class Selection {
 public:
  Selection(std::string_view codec, const TensorView& tensor, float* residual, std::size_t k,
            std::span<std::byte> scratch, ThreadTeam* team, SelectionRule rule)
      : codec_(codec), tensor_(tensor), residual_(residual), k_(k), team_(team), rule_(rule) {
    const Layout layout = layout_of(n(), k, rule);
    auto words = view_as<std::uint32_t>(scratch, layout.words());
    const auto take = [&words](std::size_t count) {
      const auto part = words.first(count);
      words = words.subspan(count);
      return part;
    };
    const auto floats = [](std::span<std::uint32_t> part) {
      return std::span(reinterpret_cast<float*>(part.data()), part.size());
    };
    segments_ = {reinterpret_cast<Segment*>(take(2 * layout.segments).data()), layout.segments};
    bins_ = take(kBins);
    sample_ = floats(take(layout.sample));
    arena_indices_ = take(layout.arena);
    arena_values_ = floats(take(layout.arena));
    indices_ = take(layout.most + kSlack);
    values_ = floats(take(layout.most + kSlack));
  }

  Selected run() {
    if (residual_ != nullptr && n() <= kShared)
      require_finite(codec_, tensor_, kernels::max_magnitude_bits(tensor_.data.data(), n()));
    return rule_.sampled ? sampled() : exact();
  }

 private:
  std::size_t n() const { return tensor_.data.size(); }
  std::size_t found() const { return total_.load(std::memory_order_relaxed); }
  std::span<const float> candidates() const { return arena_values_.first(found()); }

  Selected exact() {
    scan(residual_ != nullptr, guess());
    if (!overflow_ && found() < k_) again(1);  // the sample misled
    return cut();
  }

  Selected sampled() {
    std::uint32_t lowest = sampled_threshold(k_);
    scan(residual_ != nullptr, lowest);
    for (int i = 0; i < kThresholdRetries && !overflow_ && found() < fewest_sampled(k_); ++i)
      again(lowest = lowered_threshold(lowest));
    if (overflow_ || found() > most_selected(n(), k_, rule_)) return cut();
    if (found() < fewest_sampled(k_)) {
      again(1);
      return cut();
    }
    return keep({lowest, std::numeric_limits<std::size_t>::max()});
  }

  /// A magnitude that rather more than k values reach: 3 standard deviations of the sample.
  std::uint32_t guess() {
    if (sample_.size() < 1024) return 1;
    const auto mean = static_cast<double>(sample_rank(sample_.size(), k_, n()));
    const auto rank = static_cast<std::size_t>(mean + 3 * std::sqrt(mean)) + 4;
    return rank >= sample_.size() ? 1 : std::max(1u, sample_magnitude(rank));
  }

  std::uint32_t sampled_threshold(std::size_t k) {
    return sample_magnitude(sample_rank(sample_.size(), k, n()));
  }

  std::uint32_t sample_magnitude(std::size_t rank) {
    const SampleRule rule = sample_rule(n(), sample_.size());
    for_ranges(team_, sample_.size(), 1, 4096, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::size_t e = i * rule.stride;
        sample_[i] = tensor_.data[e] + (residual_ == nullptr ? 0.0f : residual_[e]);
      }
    });
    return std::min(rank_magnitude(sample_, rank, 0, 0x7FFFFFFFu, bins_).magnitude, kInfinityBits);
  }

  /// Collects what reaches `lowest`; `add`: of tensor + residual, which becomes the residual.
  void scan(bool add, std::uint32_t lowest) {
    total_ = 0;
    overflow_ = false;
    max_ = 0;
    lowest_ = lowest;
    for_ranges(team_, n(), kBlock, kShared, [&](std::size_t begin, std::size_t end) {
      std::uint32_t indices[kBlock + kSlack], largest = 0;
      float values[kBlock + kSlack];
      for (; begin < end; begin += kBlock)
        largest = std::max(largest,
                           scan_block(begin, std::min(kBlock, end - begin), add, indices, values));
      std::uint32_t seen = max_.load(std::memory_order_relaxed);
      while (seen < largest && !max_.compare_exchange_weak(seen, largest)) {
      }
    });
    added_ = added_ || add;
    zeroed_ = add;
  }

  // Without `add`, a residual that was added before holds the values.
  std::uint32_t scan_block(std::size_t begin, std::size_t size, bool add, std::uint32_t* indices,
                           float* values) {
    const auto base = static_cast<std::uint32_t>(begin);
    const float* data = (added_ ? residual_ : tensor_.data.data()) + begin;
    const kernels::Scan scan =
        add ? kernels::add_scan_large(data, residual_ + begin, size, base, lowest_, indices, values)
            : kernels::scan_large(data, size, base, lowest_, indices, values);
    if (scan.max_magnitude >= kInfinityBits) refuse({indices, scan.count}, {values, scan.count});
    const std::size_t at = total_.fetch_add(scan.count, std::memory_order_relaxed);
    if (at + scan.count > arena_values_.size()) {
      overflow_ = true;
      segments_[begin / kBlock] = {0, 0};
      if (add) put_back(indices, values, scan.count);
      return scan.max_magnitude;
    }
    std::copy_n(indices, scan.count, arena_indices_.data() + at);
    std::copy_n(values, scan.count, arena_values_.data() + at);
    segments_[begin / kBlock] = {static_cast<std::uint32_t>(at),
                                 static_cast<std::uint32_t>(scan.count)};
    return scan.max_magnitude;
  }

  void put_back(const std::uint32_t* indices, const float* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) residual_[indices[i]] = values[i];
  }

  void put_back_all() {
    if (!zeroed_) return;
    for (const Segment segment : segments_)
      put_back(arena_indices_.data() + segment.begin, arena_values_.data() + segment.begin,
               segment.count);
    zeroed_ = false;
  }

  /// Another scan of the same values, with a lower threshold.
  void again(std::uint32_t lowest) {
    put_back_all();
    scan(false, lowest);
  }

  // What is not finite is among what was found: no threshold exceeds it.
  [[noreturn]] void refuse(std::span<const std::uint32_t> indices, std::span<const float> values) {
    const auto largest = kernels::max_magnitude_bits(tensor_.data.data(), n());
    require_finite(codec_, tensor_, largest);
    std::size_t i = 0;
    while (std::isfinite(values[i])) ++i;
    refuse_tensor(codec_, tensor_.name,
                  "the tensor and its residual overflow at element " + std::to_string(indices[i]));
  }

  /// Exactly the k largest, from the candidates or, where these are too few or too many, from all.
  Selected cut() {
    if (!overflow_ && found() < k_) {  // fewer than k values are not 0
      const std::size_t zeros = k_ - found();
      again(0);
      if (!overflow_) return keep({0, zeros});
      put_back_all();
      return pick_all({0, zeros});
    }
    if (!overflow_)
      return keep(rank_magnitude(candidates(), k_, lowest_, std::max(max_.load(), lowest_), bins_));
    put_back_all();
    const std::span<const float> all =
        added_ ? std::span<const float>(residual_, n()) : tensor_.data;
    return pick_all(rank_magnitude(all, k_, 0, max_, bins_));
  }

  Selected keep(Bound bound) {
    std::size_t count = 0, ties = bound.ties;
    for (const Segment segment : segments_)
      count += kernels::keep_large(arena_indices_.data() + segment.begin,
                                   arena_values_.data() + segment.begin, segment.count,
                                   bound.magnitude, ties, indices_.data() + count,
                                   values_.data() + count, zeroed_ ? residual_ : nullptr);
    return result(count, bound, ties);
  }

  /// Without the arena: each block's values that reach the bound go straight to the result.
  Selected pick_all(Bound bound) {
    std::uint32_t indices[kBlock + kSlack];
    float values[kBlock + kSlack];
    std::size_t count = 0, ties = bound.ties;
    const float* data = added_ ? residual_ : tensor_.data.data();
    for (std::size_t begin = 0; begin < n(); begin += kBlock) {
      const kernels::Scan scan =
          kernels::scan_large(data + begin, std::min(kBlock, n() - begin),
                              static_cast<std::uint32_t>(begin), bound.magnitude, indices, values);
      count += kernels::keep_large(indices, values, scan.count, bound.magnitude, ties,
                                   indices_.data() + count, values_.data() + count, nullptr);
    }
    return result(count, bound, ties);
  }

  Selected result(std::size_t count, Bound bound, std::size_t ties_left) {
    if (added_ && !zeroed_)
      for (std::size_t i = 0; i < count; ++i) residual_[indices_[i]] = 0.0f;
    return {bound.magnitude, bound.ties - ties_left, indices_.first(count), values_.first(count)};
  }

  std::string_view codec_;
  const TensorView& tensor_;
  float* residual_;
  std::size_t k_;
  ThreadTeam* team_;
  SelectionRule rule_;
  std::span<Segment> segments_;
  std::span<std::uint32_t> bins_, arena_indices_, indices_;
  std::span<float> sample_, arena_values_, values_;
  std::uint32_t lowest_ = 0;
  bool added_ = false;   // the residual holds the sums,
  bool zeroed_ = false;  // but 0 for the candidates
  std::atomic<std::uint32_t> max_{0};
  std::atomic<std::size_t> total_{0};
  std::atomic<bool> overflow_{false};
};

Selected select(std::string_view codec, const TensorView& tensor, float* residual, std::size_t k,
                std::span<std::byte> scratch, ThreadTeam* team, SelectionRule rule) {
  const std::size_t n = tensor.data.size();
  GRADWIRE_ASSERT(k <= n);
  if (n > std::numeric_limits<std::uint32_t>::max())
    refuse_tensor(codec, tensor.name, "it has more elements than a 32-bit index can name");
  if (k == 0) return {};
  return Selection(codec, tensor, residual, k, scratch, team, rule).run();
}

}  // namespace

std::size_t most_selected(std::size_t n, std::size_t k, SelectionRule rule) {
  return rule.sampled ? std::max(k, std::min<std::size_t>(n, most_sampled(k))) : k;
}

std::size_t selection_sample_size(std::size_t n, std::size_t k, SelectionRule rule) {
  if (!rule.sampled) return std::min(kExactSample, n / 16);
  const double share = rule.sample_share * static_cast<double>(n);
  const double entries = 160.0 * static_cast<double>(n) / static_cast<double>(k);
  return std::min(n, static_cast<std::size_t>(std::ceil(std::max(share, entries))));
}

std::size_t selection_scratch_size(std::size_t n, std::size_t k, SelectionRule rule) {
  return padded_to_8(layout_of(n, k, rule).words() * sizeof(std::uint32_t));
}

Selected select_largest(std::string_view codec, const TensorView& tensor, std::size_t k,
                        std::span<std::byte> scratch, ThreadTeam* team, SelectionRule rule) {
  return select(codec, tensor, nullptr, k, scratch, team, rule);
}

Selected select_largest_of_sum(std::string_view codec, const TensorView& tensor,
                               std::span<float> residual, std::size_t k,
                               std::span<std::byte> scratch, ThreadTeam* team, SelectionRule rule) {
  GRADWIRE_ASSERT(residual.size() == tensor.data.size());
  return select(codec, tensor, residual.data(), k, scratch, team, rule);
}

}  // namespace gradwire::compressors
