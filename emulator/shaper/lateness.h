#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

/// How late frames left the links: a histogram, a factor of 1.19 a bin, 1 us to 1 s.
namespace gradwire::emulator {

class Lateness {
 public:
  struct Bin {
    double most = 0;  ///< s, its upper edge
    std::int64_t frames = 0;
  };

  /// `late`: s.
  void add(double late) {
    ++bins_[bin_of(late)];
    ++count_;
    largest_ = std::max(largest_, late);
  }
  /// s, the upper edge of its bin; 0 if nothing was added.
  double quantile(double p) const {
    std::int64_t seen = 0;
    for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
      seen += bins_[bin];
      if (seen > 0 && static_cast<double>(seen) >= p * static_cast<double>(count_))
        return std::min(largest_, upper_edge(bin));
    }
    return 0;
  }
  double largest() const { return largest_; }
  std::int64_t count() const { return count_; }
  /// Those that have frames, ascending.
  std::vector<Bin> bins() const {
    std::vector<Bin> filled;
    for (std::size_t bin = 0; bin < bins_.size(); ++bin)
      if (bins_[bin] > 0) filled.push_back({upper_edge(bin), bins_[bin]});
    return filled;
  }

 private:
  static constexpr double kLeast = 1e-6;
  static constexpr double kBinsPerOctave = 4;
  static constexpr std::size_t kBins = 81;

  static double upper_edge(std::size_t bin) {
    return kLeast * std::exp2(static_cast<double>(bin) / kBinsPerOctave);
  }
  static std::size_t bin_of(double late) {
    if (late <= kLeast) return 0;
    const double bin = std::ceil(kBinsPerOctave * std::log2(late / kLeast));
    return std::min(kBins - 1, static_cast<std::size_t>(bin));
  }

  std::array<std::int64_t, kBins> bins_{};
  std::int64_t count_ = 0;
  double largest_ = 0;
};

}  // namespace gradwire::emulator
