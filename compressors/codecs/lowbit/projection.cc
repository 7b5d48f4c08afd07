#include "compressors/codecs/lowbit/projection.h"

#include <algorithm>
#include <cmath>

#include "compressors/codecs/lowbit/kernel.h"
#include "compressors/ordered_sum.h"
#include "compressors/ranges.h"

namespace gradwire::compressors {
namespace {

class ProductSum {
 public:
  void add(const LowbitProducts& block) {
    dot_.add(block.dot);
    square_ += block.square;  // exact
  }
  void add(std::span<const float> values, const LowbitThresholds& t, const LowbitTable& table) {
    for (std::size_t at = 0; at < values.size(); at += kSumBlock)
      add(kernels::lowbit_products(values.data() + at, std::min(kSumBlock, values.size() - at), t,
                                   table));
  }
  LowbitProducts total() const { return {dot_.total(), square_}; }

 private:
  PairwiseSum dot_;
  double square_ = 0;
};

LowbitProducts shared_products(std::span<const float> values, const LowbitThresholds& t,
                               const LowbitTable& table, ThreadTeam* team,
                               std::span<LowbitProducts> sums) {
  ProductSum sum;
  if (team == nullptr || sums.empty()) {
    sum.add(values, t, table);
    return sum.total();
  }
  for_ranges(team, values.size(), kSumBlock, kRangeElements,
             [&](std::size_t begin, std::size_t end) {
               for (; begin < end; begin += kSumBlock)
                 sums[begin / kSumBlock] = kernels::lowbit_products(
                     values.data() + begin, std::min(kSumBlock, end - begin), t, table);
             });
  for (const LowbitProducts& block : sums.first(sum_blocks(values.size()))) sum.add(block);
  return sum.total();
}

bool is_on_table(std::span<const float> values, const LowbitTable& table, float alpha) {
  float level[4];
  for (int j = 0; j < 4; ++j) level[j] = alpha * table.magnitude[j];
  constexpr std::size_t kBlock = 64;  // hardly any tensor gets beyond the first
  for (std::size_t at = 0; at < values.size(); at += kBlock) {
    bool all = true;
    for (const float value : values.subspan(at, std::min(kBlock, values.size() - at))) {
      const float v = std::abs(value);
      all &= (v == level[0]) | (v == level[1]) | (v == level[2]) | (v == level[3]);
    }
    if (!all) return false;
  }
  return true;
}

using Tensors = std::span<const std::span<const float>>;

float first_magnitude(Tensors tensors) {
  for (const auto& values : tensors)
    for (const float value : values)
      if (value != 0.0f) return std::abs(value);
  return 0.0f;
}

/// The scale of tensors that are multiples of the table's entries already, or 0.
float exact_scale(Tensors tensors, const LowbitTable& table) {
  const float first = first_magnitude(tensors);
  for (int j = 0; j < table.levels; ++j) {
    if (table.magnitude[j] == 0.0f) continue;
    const float alpha = first / table.magnitude[j];
    const auto holds = [&](std::span<const float> v) { return is_on_table(v, table, alpha); };
    if (std::isfinite(alpha * table.top) && std::all_of(tensors.begin(), tensors.end(), holds))
      return alpha;
  }
  return 0.0f;
}

// products(thresholds, table) sums over the group.
template <class Products>
LowbitScale project(Tensors tensors, const LowbitTable& table, int iterations,
                    Products&& products) {
  if (const float alpha = exact_scale(tensors, table); alpha > 0) return {double{alpha}, alpha};
  std::size_t n = 0;
  for (const auto& values : tensors) n += values.size();
  // Binary's products are sum |v| and n.
  const LowbitTable& signs = kLowbitTables[0];
  const double sum = products(lowbit_thresholds(signs, 0), signs).dot;
  if (!std::isfinite(sum)) return {.finite = false};
  double alpha = lowbit_start(table, sum, n), quantiser = alpha;
  for (int i = 0; table.levels > 1 && i < iterations; ++i) {
    quantiser = alpha;
    alpha = lowbit_update(table, products(lowbit_thresholds(table, alpha), table), alpha);
    if (alpha == quantiser) break;  // so it would stay
  }
  return {quantiser, static_cast<float>(alpha)};
}

}  // namespace

LowbitScale lowbit_project(std::span<const float> values, const LowbitTable& table, int iterations,
                           ThreadTeam* team, std::span<LowbitProducts> sums) {
  const std::span<const float> tensors[] = {values};
  return project(tensors, table, iterations,
                 [&](const LowbitThresholds& t, const LowbitTable& entries) {
                   return shared_products(values, t, entries, team, sums);
                 });
}

LowbitScale lowbit_project(std::span<const std::span<const float>> tensors,
                           const LowbitTable& table, int iterations) {
  return project(tensors, table, iterations,
                 [&](const LowbitThresholds& t, const LowbitTable& entries) {
                   ProductSum sum;
                   for (const auto& values : tensors) sum.add(values, t, entries);
                   return sum.total();
                 });
}

}  // namespace gradwire::compressors
