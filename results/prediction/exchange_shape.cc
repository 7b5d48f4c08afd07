#include "results/prediction/exchange_shape.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace gradwire::results {
namespace {

constexpr std::array<std::pair<std::string_view, ExchangeKind>, 17> kShapeNames = {{
    {"ring-all-reduce", ExchangeKind::kRingAllReduce},
    {"ring-all-gather", ExchangeKind::kRingAllGather},
    {"direct-all-gather", ExchangeKind::kDirectAllGather},
    {"parameter-server", ExchangeKind::kParameterServer},
    {"tree-all-reduce", ExchangeKind::kTreeAllReduce},
    {"halving-doubling-all-reduce", ExchangeKind::kHalvingDoubling},
    {"two-level-all-reduce", ExchangeKind::kTwoLevel},
    {"in-network-all-reduce", ExchangeKind::kInNetwork},
    {"ring", ExchangeKind::kRingAllReduce},
    {"all-gather", ExchangeKind::kRingAllGather},
    {"direct", ExchangeKind::kDirectAllGather},
    {"server", ExchangeKind::kParameterServer},
    {"tree", ExchangeKind::kTreeAllReduce},
    {"halving-doubling", ExchangeKind::kHalvingDoubling},
    {"two-level", ExchangeKind::kTwoLevel},
    {"in-network", ExchangeKind::kInNetwork},
    {"scatter-reduce", ExchangeKind::kScatterReduce},
}};

std::vector<Hops> ring(double n) {
  return {{2 * (n - 1), 1 / n, 1, true, true}};
}

std::vector<Hops> halving_doubling(int workers) {
  std::vector<Hops> hops;
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(workers)));
  if (power != workers) hops.push_back({2, 1});  // one way each
  for (int part = 2; part <= power; part *= 2) hops.push_back({2, 1.0 / part, 1, true});
  return hops;
}

std::vector<Hops> two_level(int workers, int group) {
  const int in_group = std::min(workers, group);
  const int leaders = (workers + group - 1) / group;
  std::vector<Hops> hops;
  if (leaders > 1) hops = ring(leaders);
  if (in_group > 1) hops.push_back({2, in_group - 1.0, in_group - 1.0});
  return hops;
}

}  // namespace

std::string_view name_of(ExchangeKind kind) {
  for (const auto& [name, candidate] : kShapeNames)
    if (candidate == kind) return name;
  return "";
}

bool exchange_kind(std::string_view name, ExchangeKind& kind) {
  for (const auto& [candidate, value] : kShapeNames) {
    if (candidate != name) continue;
    kind = value;
    return true;
  }
  return false;
}

std::vector<Hops> hops_of(ExchangeKind kind, int workers, int group) {
  GRADWIRE_ASSERT(workers >= 1 && group >= 1);
  const double n = workers;
  if (workers == 1 && kind != ExchangeKind::kParameterServer) return {};
  switch (kind) {
    case ExchangeKind::kRingAllReduce:
      return ring(n);
    case ExchangeKind::kRingAllGather:
      return {{n - 1, 1, 1, true, true}};
    case ExchangeKind::kDirectAllGather:
      return {{1, n - 1, n - 1, true}};
    case ExchangeKind::kParameterServer:
      return {{2, n, n}};
    case ExchangeKind::kTreeAllReduce:  // up and down each level
      return std::vector<Hops>(std::bit_width(static_cast<unsigned>(workers - 1)), {2, 1});
    case ExchangeKind::kHalvingDoubling:
      return halving_doubling(workers);
    case ExchangeKind::kTwoLevel:
      return two_level(workers, group);
    case ExchangeKind::kInNetwork:
      return {{1, 1, 1, true}, {1, 1.0 / 64, 1, false, false, 65536}};
    case ExchangeKind::kScatterReduce:
      return {{1, (n - 1) / n, n - 1, true}, {n - 1, 1 / n, 1, true, true}};
  }
  return {};
}

ExchangeKind second_kind(ExchangeKind kind) {
  if (kind == ExchangeKind::kParameterServer) return kind;
  const bool round = kind == ExchangeKind::kRingAllReduce || kind == ExchangeKind::kScatterReduce;
  return round ? ExchangeKind::kRingAllGather : ExchangeKind::kDirectAllGather;
}

double messages_carried(ExchangeKind kind, int workers, int group) {
  double messages = 0;
  for (const Hops& hops : hops_of(kind, workers, group)) messages += hops.count * hops.share;
  return messages;
}

double messages_sent(ExchangeKind kind, int workers) {
  const double n = workers;
  switch (kind) {
    case ExchangeKind::kRingAllGather:
    case ExchangeKind::kDirectAllGather:
      return n * (n - 1);
    case ExchangeKind::kParameterServer:
    case ExchangeKind::kInNetwork:  // aggregators' own messages are not counted
      return 2 * n;
    case ExchangeKind::kRingAllReduce:
    case ExchangeKind::kTreeAllReduce:
    case ExchangeKind::kHalvingDoubling:
    case ExchangeKind::kTwoLevel:
    case ExchangeKind::kScatterReduce:
      return 2 * (n - 1);
  }
  return 0;
}

double transfers_sent(ExchangeKind kind, int workers, int group) {
  const double n = workers;
  switch (kind) {
    case ExchangeKind::kRingAllReduce:
    case ExchangeKind::kScatterReduce:
      return 2 * n * (n - 1);
    case ExchangeKind::kHalvingDoubling:
      return 2 * n * std::ceil(std::log2(n));
    case ExchangeKind::kTwoLevel: {
      const double leaders = std::ceil(n / group);
      return 2 * (n - leaders) + 2 * leaders * (leaders - 1);
    }
    case ExchangeKind::kRingAllGather:
    case ExchangeKind::kDirectAllGather:
    case ExchangeKind::kParameterServer:
    case ExchangeKind::kInNetwork:
    case ExchangeKind::kTreeAllReduce:
      return messages_sent(kind, workers);
  }
  return 0;
}

double decodes_of(ExchangeKind kind, int workers) {
  const bool gathers =
      kind == ExchangeKind::kRingAllGather || kind == ExchangeKind::kDirectAllGather;
  return gathers ? workers : 1;
}

double additions_of(ExchangeKind kind, int workers, int group) {
  const double n = workers;
  switch (kind) {
    case ExchangeKind::kRingAllGather:
    case ExchangeKind::kDirectAllGather:
    case ExchangeKind::kInNetwork:
      return 0;
    case ExchangeKind::kRingAllReduce:
    case ExchangeKind::kScatterReduce:
      return (n - 1) / n;
    case ExchangeKind::kHalvingDoubling: {
      const double power = std::bit_floor(static_cast<unsigned>(workers));
      return (power - 1) / power + (power < n ? 1 : 0);
    }
    case ExchangeKind::kTreeAllReduce:
      return std::ceil(std::log2(n));
    case ExchangeKind::kParameterServer:
      return n;
    case ExchangeKind::kTwoLevel:
      return std::min(n, static_cast<double>(group));
  }
  return 0;
}

}  // namespace gradwire::results
