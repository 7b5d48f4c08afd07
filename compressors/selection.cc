#include "compressors/selection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/thread_team.h"
#include "compressors/arithmetic/selection.h"
#include "compressors/kernels/kernels.h"
#include "compressors/kernels/select.h"
#include "compressors/payload.h"
#include "compressors/ranges.h"
#include "compressors/selection_candidates.h"
#include "compressors/selection_rank.h"

namespace gradwire::compressors {
namespace {

constexpr std::size_t kSlack = kernels::kSelectSlack;

constexpr std::size_t kLinesAhead = 16;
constexpr std::size_t kLeastSample = 1024;  ///< that a guess is worth its time

/// Candidates that are kept before the selection falls back to all values.
std::size_t most_candidates(std::size_t n, std::size_t k) {
  return std::min(n, 2 * k + kRangeElements);
}

std::size_t scratch_words(std::size_t n, std::size_t k, SelectionRule rule) {
  if (k == 0) return 0;
  return selection_sample_size(n, k, rule) + Candidates::words(n, most_candidates(n, k)) +
         2 * (most_selected(n, k, rule) + kSlack);
}

/// One selection: its tensor, its residual (or null), and what it keeps in scratch.
class Selection {
 public:
  Selection(std::string_view codec, const TensorView& tensor, float* residual, std::size_t k,
            std::span<std::uint32_t> words, ThreadTeam* team, SelectionRule rule)
      : codec_(codec),
        tensor_(tensor),
        residual_(residual),
        k_(k),
        team_(team),
        rule_(rule),
        sample_(take_floats(words, selection_sample_size(n(), k, rule))),
        candidates_(codec, tensor, residual, team, most_candidates(n(), k), words) {
    const std::size_t most = most_selected(n(), k, rule) + kSlack;
    kept_.indices = take_words(words, most);
    kept_.values = take_floats(words, most);
  }

  Selected run() {
    if (residual_ != nullptr)
      require_finite(codec_, tensor_, shared_magnitude(team_, tensor_.data));
    return rule_.sampled ? sampled() : exact();
  }

 private:
  std::size_t n() const { return tensor_.data.size(); }
  bool too_few(std::size_t wanted) const {
    return !candidates_.overflow() && candidates_.found() < wanted;
  }

  Selected exact() {
    const Guess guess = guessed();
    candidates_.scan(guess.lowest, guess.likely);
    if (candidates_.overflow() || too_few(k_)) scan_between();
    if (too_few(k_)) candidates_.scan_again(1);
    return cut();
  }

  /// Where the sample misled: its lines differ too much, or fall in step with the tensor's rows.
  /// One more scan, for the geometric mean of what is wanted and what has room, takes a fraction of
  /// counting all values.
  void scan_between() {
    if (sample_.size() < kLeastSample) return;
    const auto room = static_cast<double>(most_candidates(n(), k_));
    const auto wanted = static_cast<std::size_t>(std::sqrt(static_cast<double>(k_) * room));
    const std::uint32_t between =
        std::clamp(sample_magnitude(sample_rank(sample_.size(), wanted, n())), 1u, kInfinityBits);
    if (candidates_.overflow() == (between > candidates_.lowest())) candidates_.scan_again(between);
  }

  Selected sampled() {
    draw_sample();
    std::uint32_t lowest =
        std::min(sample_magnitude(sample_rank(sample_.size(), k_, n())), kInfinityBits);
    candidates_.scan(lowest, lowest);
    for (int i = 0; i < kThresholdRetries && too_few(fewest_sampled(k_)); ++i)
      candidates_.scan_again(lowest = lowered_threshold(lowest));
    const std::size_t found = candidates_.found();
    if (candidates_.overflow() || found > most_selected(n(), k_, rule_)) return cut();
    if (found >= fewest_sampled(k_)) return keep({lowest, Bound::kAllTies});
    candidates_.scan_again(1);
    return cut();
  }

  /// Of the magnitude that k values reach.
  struct Guess {
    std::uint32_t lowest = 1;                  ///< 3 standard deviations of the sample below it
    std::uint32_t likely = Candidates::kNone;  ///< what reaches this is cleared at once
  };

  Guess guessed() {
    if (sample_.size() < kLeastSample) return {1, 1};
    draw_lines();
    const std::size_t mean = sample_rank(sample_.size(), k_, n());
    const std::uint32_t likely = std::clamp(sample_magnitude(mean), 1u, kInfinityBits);
    const auto rank = mean + static_cast<std::size_t>(3 * deviation_of_rank(likely)) + 4;
    if (rank >= sample_.size()) return {1, likely};
    return {std::clamp(sample_magnitude(rank), 1u, kInfinityBits), likely};
  }

  void draw_lines() {
    const LineSample rule = line_sample(n());
    for_ranges(team_, rule.lines, 1, 256, [&](std::size_t begin, std::size_t end) {
      for (std::size_t line = begin; line < end; ++line)
        draw_line(line * rule.stride, kLinesAhead * rule.stride, &sample_[line * kSampleLine]);
    });
  }
  /// Asks for the line `ahead` too; harmless beyond the end.
  void draw_line(std::size_t begin, std::size_t ahead, float* values) const {
    const float* data = tensor_.data.data() + begin;
    __builtin_prefetch(data + ahead);
    std::copy_n(data, kSampleLine, values);
    if (residual_ == nullptr) return;
    __builtin_prefetch(residual_ + begin + ahead);
    for (std::size_t i = 0; i < kSampleLine; ++i) values[i] += residual_[begin + i];
  }

  /// Standard deviation of how many of a sample's values reach `magnitude`: that of its lines'
  /// counts, since neighbours may be alike.
  double deviation_of_rank(std::uint32_t magnitude) const {
    double sum = 0, squares = 0;
    for (std::size_t begin = 0; begin < sample_.size(); begin += kSampleLine) {
      int count = 0;
      for (const float value : sample_.subspan(begin, kSampleLine))
        count += magnitude_bits(value) >= magnitude ? 1 : 0;
      sum += count;
      squares += count * count;
    }
    const double lines = static_cast<double>(sample_.size() / kSampleLine);
    return std::sqrt(std::max(0.0, squares - sum * sum / lines));
  }

  void draw_sample() {
    const SampleRule rule = sample_rule(n(), sample_.size());
    for_ranges(team_, sample_.size(), 1, 4096, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) sample_[i] = sum_at(i * rule.stride);
    });
  }
  float sum_at(std::size_t e) const {
    return tensor_.data[e] + (residual_ == nullptr ? 0.0f : residual_[e]);
  }
  std::uint32_t sample_magnitude(std::size_t rank) {
    if (!sample_ranks_) sample_ranks_.emplace(nullptr, sample_, 0, 0x7FFFFFFFu);
    return sample_ranks_->at(rank).magnitude;
  }

  /// Exactly the k largest, from the candidates or, where these are too few or too many, from all.
  Selected cut() {
    if (too_few(k_)) {  // fewer than k values are not 0
      const Bound zeros = {0, k_ - candidates_.found()};
      candidates_.scan_again(0);
      return candidates_.overflow() ? keep_of_all(zeros) : keep(zeros);
    }
    if (candidates_.overflow()) return keep_of_all(candidates_.bound_of_all(k_));
    const std::uint32_t low = candidates_.lowest();
    return keep(
        RankedMagnitudes(team_, candidates_.values(), low, std::max(candidates_.largest(), low))
            .at(k_));
  }

  Selected keep(const Bound& bound) { return result(bound, candidates_.keep(bound, kept_)); }
  Selected keep_of_all(const Bound& bound) {
    return result(bound, candidates_.keep_of_all(bound, kept_));
  }
  static Selected result(const Bound& bound, const KeptEntries& kept) {
    return {bound.magnitude, kept.ties, kept.indices.first(kept.count),
            kept.values.first(kept.count)};
  }

  std::string_view codec_;
  const TensorView& tensor_;
  float* residual_;
  std::size_t k_;
  ThreadTeam* team_;
  SelectionRule rule_;
  std::span<float> sample_;
  std::optional<RankedMagnitudes> sample_ranks_;
  Candidates candidates_;
  KeptEntries kept_;
};

Selected select(std::string_view codec, const TensorView& tensor, float* residual, std::size_t k,
                std::span<std::byte> scratch, ThreadTeam* team, SelectionRule rule) {
  const std::size_t n = tensor.data.size();
  GRADWIRE_ASSERT(k <= n);
  if (n > std::numeric_limits<std::uint32_t>::max())
    refuse_tensor(codec, tensor.name, "it has more elements than a 32-bit index can name");
  if (k == 0) return {};
  const auto words = view_as<std::uint32_t>(scratch, scratch_words(n, k, rule));
  return Selection(codec, tensor, residual, k, words, team, rule).run();
}

}  // namespace

std::size_t most_selected(std::size_t n, std::size_t k, SelectionRule rule) {
  return rule.sampled ? std::max(k, std::min<std::size_t>(n, most_sampled(k))) : k;
}

std::size_t selection_sample_size(std::size_t n, std::size_t k, SelectionRule rule) {
  if (!rule.sampled) return line_sample(n).size();
  const double share = rule.sample_share * static_cast<double>(n);
  const double entries = 160.0 * static_cast<double>(n) / static_cast<double>(k);
  return std::min(n, static_cast<std::size_t>(std::ceil(std::max(share, entries))));
}

std::size_t selection_scratch_size(std::size_t n, std::size_t k, SelectionRule rule) {
  return padded_to_8(scratch_words(n, k, rule) * sizeof(std::uint32_t));
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
