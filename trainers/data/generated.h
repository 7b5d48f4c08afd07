#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "trainers/data/data_set.h"

/// Data sets drawn from Philox (trainers/data/variates.h): the same bits on every machine, and a
/// sample does not depend on how many there are. Training samples come first; held-out samples have
/// streams of their own.
namespace gradwire::trainers {

/// 30 centres in 64 dimensions, coordinates N(0, 0.55^2); a sample: a random centre plus N(0, 1);
/// label: the centre's number mod 10.
DataSet make_gaussian_clusters(std::int64_t train, std::int64_t held_out, std::uint64_t seed);

/// 16,384 features; for each sample 40 are drawn by Zipf's law (feature j with weight (j +
/// 1)^-1.1), and a feature's value is how often it was drawn, over sqrt(40); label: whether the sum
/// of values times weights from N(0, 1) is above 0.
DataSet make_sparse_linear(std::int64_t train, std::int64_t held_out, std::uint64_t seed);

/// 1,000 features, each present with probability 5 %, then N(0, 1); 30 random ones have weights
/// N(0, 1.5^2); label 1 with probability 1 / (1 + e^(-2 w x)).
DataSet make_sparse_logit(std::int64_t train, std::int64_t held_out, std::uint64_t seed);

/// 10 classes of 16x16 pixels. A class's template: N(0, 1) pixels, blurred twice by the mean of 3x3
/// with wrap-around, then shifted and scaled to mean 0 and deviation 1; templates do not depend on
/// `seed`. A sample: its template rolled by -2 .. 2 pixels each way, times 0.7 .. 1.3, plus
/// N(0, sigma^2).
DataSet make_glyph(std::int64_t train, std::int64_t held_out, double sigma, std::uint64_t seed);

/// 50 tokens. The next token's distribution depends on the last token a and on b mod 5 of the last
/// but one, b: 5 % from all tokens alike, 95 % from 6 of them with Dirichlet(0.7) weights.
class MarkovSource {
 public:
  static constexpr std::uint32_t kTokens = 50;
  explicit MarkovSource(std::uint64_t seed);
  /// [kTokens]
  const std::array<double, kTokens>& next(std::uint32_t last, std::uint32_t before) const {
    return distributions_[last * 5 + before % 5];
  }

 private:
  std::vector<std::array<double, kTokens>> distributions_;
};
/// One chain, cut in two; sequences of 32.
DataSet make_markov(std::int64_t train_tokens, std::int64_t held_out_tokens, std::uint64_t seed);

}  // namespace gradwire::trainers
