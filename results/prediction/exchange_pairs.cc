#include "results/prediction/exchange_pairs.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace gradwire::results {
namespace {

using Pairs = std::vector<RankPair>;

/// Of ranks 0, stride, 2 stride, ...: each to the next, the last to the first.
Pairs ring_pairs(int workers, int stride = 1) {
  Pairs pairs;
  const int members = (workers + stride - 1) / stride;
  for (int r = 0; r < members; ++r) pairs.push_back({r * stride, (r + 1) % members * stride});
  return pairs;
}

/// Of all distances round the ring, as many as there is room for, evenly.
HopPairs all_pairs(int workers) {
  HopPairs hop;
  const int distances = std::clamp(kMostPairs / workers, 1, workers - 1);
  for (int i = 0; i < distances; ++i) {
    const auto distance = static_cast<int>(1 + std::int64_t{i} * (workers - 1) / distances);
    for (int source = 0; source < workers; ++source)
      hop.pairs.push_back({source, (source + distance) % workers});
  }
  hop.each = (workers - 1.0) / distances;
  return hop;
}

Pairs server_pairs(int workers) {
  Pairs pairs;
  for (int w = 0; w < workers; ++w) pairs.push_back({w, workers});
  return pairs;
}

/// A binomial tree's children of one level, to their parents; leaves first.
std::vector<HopPairs> tree_pairs(int workers) {
  std::vector<HopPairs> levels;
  for (int bit = 1; bit < workers; bit *= 2) {
    Pairs& level = levels.emplace_back().pairs;
    for (int parent = 0; parent + bit < workers; parent += 2 * bit)
      level.push_back({parent + bit, parent});
  }
  return levels;
}

std::vector<HopPairs> halving_doubling_pairs(int workers) {
  std::vector<HopPairs> hops;
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(workers)));
  const int rest = workers - power;
  if (rest > 0) {
    Pairs& handed = hops.emplace_back().pairs;
    for (int r = 0; r < 2 * rest; r += 2) handed.push_back({r, r + 1});
  }
  const auto rank = [&](int number) { return number < rest ? 2 * number + 1 : number + rest; };
  for (int distance = power / 2; distance > 0; distance /= 2) {
    Pairs& exchanged = hops.emplace_back().pairs;
    for (int q = 0; q < power; ++q) exchanged.push_back({rank(q), rank(q ^ distance)});
  }
  return hops;
}

std::vector<HopPairs> two_level_pairs(int workers, int group) {
  std::vector<HopPairs> hops;
  if (workers > group) hops.push_back({ring_pairs(workers, group)});
  if (std::min(workers, group) == 1) return hops;
  Pairs& members = hops.emplace_back().pairs;
  for (int w = 0; w < workers; ++w)
    if (w % group != 0) members.push_back({w, w - w % group});
  return hops;
}

}  // namespace

std::vector<HopPairs> hop_pairs(ExchangeKind kind, int workers, int group) {
  if (kind == ExchangeKind::kParameterServer) return {{server_pairs(workers)}};
  if (workers == 1) return {};
  switch (kind) {
    case ExchangeKind::kRingAllReduce:
    case ExchangeKind::kRingAllGather:
      return {{ring_pairs(workers)}};
    case ExchangeKind::kInNetwork:
      return {{ring_pairs(workers)}, {ring_pairs(workers)}};
    case ExchangeKind::kDirectAllGather:
      return {all_pairs(workers)};
    case ExchangeKind::kTreeAllReduce:
      return tree_pairs(workers);
    case ExchangeKind::kHalvingDoubling:
      return halving_doubling_pairs(workers);
    case ExchangeKind::kTwoLevel:
      return two_level_pairs(workers, group);
    case ExchangeKind::kScatterReduce:
      return {all_pairs(workers), {ring_pairs(workers)}};
    case ExchangeKind::kParameterServer:
      break;
  }
  return {};
}

}  // namespace gradwire::results
