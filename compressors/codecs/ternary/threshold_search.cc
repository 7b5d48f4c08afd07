#include "compressors/codecs/ternary/threshold_search.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "base/thread_team.h"
#include "compressors/codecs/ternary/kernel.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

using kernels::kBins;
using kernels::kBinShift;

constexpr std::size_t kBinKeys = std::size_t{1} << kBinShift;
constexpr std::size_t kWindowBins = 4;  ///< counted by all bits at once
constexpr std::size_t kWindowKeys = kWindowBins * kBinKeys;
constexpr std::size_t kSmallestPart = std::size_t{1} << 16;
constexpr std::size_t kParts = 4;

constexpr std::uint32_t exponent_of(std::size_t bin) {
  return static_cast<std::uint32_t>(bin >> (23 - kBinShift));
}

TernaryThreshold not_finite() {
  return {kKeepNothing, 0, 0, std::numeric_limits<float>::infinity()};
}

/// Every distinct magnitude, from the largest down.
TernaryThreshold search_sorted(std::span<const float> values, std::span<std::uint32_t> keys) {
  for (std::size_t e = 0; e < values.size(); ++e) keys[e] = magnitude_bits(values[e]);
  std::sort(keys.begin(), keys.end(), std::greater<>());
  if (!keys.empty() && keys[0] >= kInfinityBits) return not_finite();
  DescendingSum kept;
  TernaryThreshold best;
  for (std::size_t e = 0; e < keys.size() && keys[e] != 0; ++e) {
    kept.add(keys[e] >> 23, 1, mantissa_of(keys[e]));
    if (e + 1 == keys.size() || keys[e + 1] != keys[e]) best.offer(keys[e], kept);
  }
  return best;
}

/// One bin of the whole tensor.
struct Bin {
  std::uint64_t count, low_bits;
};

class BinSearch {
 public:
  static std::size_t parts(std::size_t n) { return n < kParts * kSmallestPart ? 1 : kParts; }
  static std::size_t scratch(std::size_t n) {
    return kBins * sizeof(Bin) +
           parts(n) * (kBins * sizeof(std::uint64_t) + kWindowKeys * sizeof(std::uint32_t));
  }

  BinSearch(std::span<const float> values, std::span<std::byte> scratch, ThreadTeam* team)
      : values_(values), parts_(team == nullptr ? 1 : parts(values.size())), team_(team) {
    bins_ = view_as<Bin>(scratch, kBins);
    scratch = scratch.subspan(bins_.size_bytes());
    part_bins_ = view_as<std::uint64_t>(scratch, parts_ * kBins);
    window_ =
        view_as<std::uint32_t>(scratch.subspan(part_bins_.size_bytes()), parts_ * kWindowKeys);
  }

  TernaryThreshold run() {
    count_bins();
    for (std::size_t b = kBins; b-- > kInfinityBits >> kBinShift;)
      if (bins_[b].count != 0) return not_finite();
    return refine(best_at_ends());
  }

 private:
  template <class Body>
  void for_parts(Body&& body) {
    if (team_ != nullptr && parts_ > 1)
      team_->run(parts_, [&](std::size_t p) { body(p); });
    else
      for (std::size_t p = 0; p < parts_; ++p) body(p);
  }

  // In slabs that no bin of a part can overflow.
  void count_bins() {
    std::fill(bins_.begin(), bins_.end(), Bin{0, 0});
    const std::size_t slab = parts_ * (kernels::kBinLimit - 1);
    for (std::size_t begin = 0; begin < values_.size(); begin += slab) {
      const auto part = values_.subspan(begin, std::min(slab, values_.size() - begin));
      std::fill(part_bins_.begin(), part_bins_.end(), 0u);
      for_parts([&](std::size_t p) {
        const auto own = slice(part, p);
        kernels::count_magnitudes(own.data(), own.size(), part_bins_.data() + p * kBins);
      });
      for (std::size_t p = 0; p < parts_; ++p)
        for (std::size_t b = 0; b < kBins; ++b) {
          const std::uint64_t packed = part_bins_[p * kBins + b];
          bins_[b].count += packed >> kernels::kBinCountShift;
          bins_[b].low_bits += packed & ((std::uint64_t{1} << kernels::kBinCountShift) - 1);
        }
    }
  }

  std::span<const float> slice(std::span<const float> all, std::size_t p) const {
    const std::size_t length = (all.size() + parts_ - 1) / parts_;
    const std::size_t begin = std::min(all.size(), p * length);
    return all.subspan(begin, std::min(length, all.size() - begin));
  }

  std::uint64_t mantissas(std::size_t b) const {
    return bins_[b].count * mantissa_of(static_cast<std::uint32_t>(b << kBinShift)) +
           bins_[b].low_bits;
  }

  TernaryThreshold best_at_ends() const {
    DescendingSum kept;
    TernaryThreshold best;
    for (std::size_t b = kBins; b-- > 0;)
      if (bins_[b].count != 0) add_whole(kept, b, best);
    return best;
  }

  // The lower edge of a bin selects the same values as the smallest magnitude in it; but bin 0 may
  // hold zeros beside the smallest subnormals.
  void add_whole(DescendingSum& kept, std::size_t b, TernaryThreshold& best) const {
    kept.add(exponent_of(b), bins_[b].count, mantissas(b));
    if (b != 0) best.offer(static_cast<std::uint32_t>(b << kBinShift), kept);
  }

  // The j largest of a bin sum to at most min(j hi, S), so inside it
  // c^2 / k <= (C + S)^2 / (K + S / hi), beside the gains at its ends.
  bool may_hold_better(std::size_t b, const DescendingSum& above, double gain) const {
    if (b != 0 && bins_[b].count == 1) return false;
    const auto highest = static_cast<std::uint32_t>((b + 1) << kBinShift) - 1;
    const double sum = DescendingSum::scaled(exponent_of(b), mantissas(b));
    const double most = above.sum() + sum;
    const double fewest = static_cast<double>(above.count()) +
                          sum / DescendingSum::scaled(exponent_of(b), mantissa_of(highest));
    return most * most / fewest >= gain * (1 - 1e-12);  // rounding may hide no candidate
  }

  TernaryThreshold refine(TernaryThreshold best) {
    DescendingSum kept;
    std::size_t window_end = 0, window_begin = 0;
    const double gain = best.gain;
    best = {};
    for (std::size_t b = kBins; b-- > 0;) {
      if (bins_[b].count == 0 || (b == 0 && bins_[b].low_bits == 0)) continue;
      if (!may_hold_better(b, kept, gain)) {
        add_whole(kept, b, best);
        continue;
      }
      if (b < window_begin || b >= window_end) {
        window_end = b + 1;
        window_begin = window_end < kWindowBins ? 0 : window_end - kWindowBins;
        count_window(window_begin);
      }
      look_into(b, window_.subspan((b - window_begin) * kBinKeys, kBinKeys), kept, best);
    }
    return best;
  }

  void count_window(std::size_t first_bin) {
    std::fill(window_.begin(), window_.end(), 0u);
    for_parts([&](std::size_t p) {
      const auto own = slice(values_, p);
      kernels::count_exactly(own.data(), own.size(),
                             static_cast<std::uint32_t>(first_bin << kBinShift), kWindowKeys,
                             window_.data() + p * kWindowKeys);
    });
    for (std::size_t p = 1; p < parts_; ++p)
      for (std::size_t k = 0; k < kWindowKeys; ++k) window_[k] += window_[p * kWindowKeys + k];
  }

  static void look_into(std::size_t b, std::span<const std::uint32_t> counts, DescendingSum& kept,
                        TernaryThreshold& best) {
    for (std::size_t low = kBinKeys; low-- > 0;) {
      const auto key = static_cast<std::uint32_t>((b << kBinShift) + low);
      if (counts[low] == 0 || key == 0) continue;
      kept.add(key >> 23, counts[low], std::uint64_t{counts[low]} * mantissa_of(key));
      best.offer(key, kept);
    }
  }

  std::span<const float> values_;
  std::size_t parts_;
  ThreadTeam* team_;
  std::span<Bin> bins_;
  std::span<std::uint64_t> part_bins_;  ///< [parts, kBins]
  std::span<std::uint32_t> window_;     ///< [parts, kWindowKeys]; the first has the sums
};

}  // namespace

std::size_t threshold_search_scratch(std::size_t n) {
  return n < kSortedBelow ? padded_to_8(n * sizeof(std::uint32_t)) : BinSearch::scratch(n);
}

TernaryThreshold search_threshold(std::span<const float> values, std::span<std::byte> scratch,
                                  ThreadTeam* team) {
  if (values.size() < kSortedBelow)
    return search_sorted(values, view_as<std::uint32_t>(scratch, values.size()));
  return BinSearch(values, scratch, team).run();
}

}  // namespace gradwire::compressors
