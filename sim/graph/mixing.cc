#include "sim/graph/mixing.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "base/philox.h"
#include "sim/sim_error.h"

namespace gradwire::sim {
namespace {

constexpr std::uint32_t kMixingStream = kFirstReservedTensor + 0x10000011u;
constexpr double kTolerance = 1e-9;
constexpr int kMostIterations = 20000;

[[noreturn]] void refuse_mixing(int workers, const std::string& reason,
                                const std::string& advice = "") {
  throw SimError("mix by", "a graph of " + std::to_string(workers) + " workers", reason, advice);
}

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string edge_text(int from, int to) {
  return "the edge from " + std::to_string(from) + " to " + std::to_string(to);
}

/// Workers that can be reached from worker 0 along the edges, or against them.
std::size_t reached(int workers, const std::vector<MixingEdge>& edges, bool against) {
  std::vector<std::vector<int>> next(static_cast<std::size_t>(workers));
  for (const MixingEdge& edge : edges)
    next[static_cast<std::size_t>(against ? edge.to : edge.from)].push_back(against ? edge.from
                                                                                    : edge.to);
  std::vector<bool> seen(next.size());
  std::vector<int> open = {0};
  seen[0] = true;
  std::size_t count = 1;
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    for (const int each : next[static_cast<std::size_t>(at)]) {
      if (seen[static_cast<std::size_t>(each)]) continue;
      seen[static_cast<std::size_t>(each)] = true;
      ++count;
      open.push_back(each);
    }
  }
  return count;
}

void remove_mean(std::vector<double>& values) {
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (double& value : values) value -= mean;
}

double squares(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

}  // namespace

Mixing::Mixing(int workers, std::vector<MixingEdge> edges)
    : edges_(std::move(edges)),
      self_(static_cast<std::size_t>(workers), 1.0),
      receivers_(self_.size()) {
  std::ranges::sort(edges_, [](const MixingEdge& a, const MixingEdge& b) {
    return a.to != b.to ? a.to < b.to : a.from < b.from;
  });
  check();
  first_into_.assign(1, 0);
  std::size_t at = 0;
  for (int i = 0; i < workers; ++i) {
    for (; at < edges_.size() && edges_[at].to == i; ++at) {
      self_[static_cast<std::size_t>(i)] -= edges_[at].weight;
      receivers_[static_cast<std::size_t>(edges_[at].from)].push_back(i);
    }
    first_into_.push_back(at);
  }
  std::vector<double> out = self_;
  for (const MixingEdge& edge : edges_) out[static_cast<std::size_t>(edge.from)] += edge.weight;
  for (int i = 0; i < workers; ++i) {
    const std::string worker = "worker " + std::to_string(i);
    if (self(i) < -kTolerance)
      refuse_mixing(workers, "weights into " + worker + " add up to " + number_text(1 - self(i)),
                    "at most 1: the rest is what the worker keeps of its own");
    if (const double sum = out[static_cast<std::size_t>(i)]; std::abs(sum - 1) > kTolerance)
      refuse_mixing(workers,
                    "weights are not doubly stochastic: those out of " + worker +
                        ", and what it keeps, add up to " + number_text(sum),
                    "as much out of a worker as into it");
  }
  check_connected();
}

void Mixing::check() const {
  const int n = workers();
  if (n < 1) refuse_mixing(n, "there is nobody");
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    const auto& [from, to, weight] = edges_[e];
    if (std::min(from, to) < 0 || std::max(from, to) >= n)
      refuse_mixing(n, "there is no worker at an end of " + edge_text(from, to));
    if (from == to) refuse_mixing(n, edge_text(from, to) + " joins a worker to itself");
    if (!(weight > 0))
      refuse_mixing(n, "the weight of " + edge_text(from, to) + " is " + number_text(weight),
                    "more than 0");
    if (e > 0 && edges_[e - 1].from == from && edges_[e - 1].to == to)
      refuse_mixing(n, edge_text(from, to) + " stands twice");
  }
}

void Mixing::check_connected() const {
  const auto all = static_cast<std::size_t>(workers());
  const std::size_t along = reached(workers(), edges_, false);
  const std::size_t against = reached(workers(), edges_, true);
  if (along < all || against < all)
    refuse_mixing(workers(),
                  "it is not connected: what worker 0 has reaches " + std::to_string(along - 1) +
                      " others, and worker 0 hears of " + std::to_string(against - 1),
                  "edges along which every worker reaches every other");
}

double Mixing::spectral_gap() const {
  std::vector<double> x(self_.size()), mixed(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<double>(uniform({1, 0, 0, kMixingStream}, i)) - 0.5;
  double before = 0, largest = 0;
  // Power iteration for the largest eigenvalue of W^T W among vectors without a mean.
  for (int i = 0; i < kMostIterations; ++i) {
    remove_mean(x);
    const double length = std::sqrt(squares(x));
    if (length == 0) return 1;
    for (std::size_t w = 0; w < x.size(); ++w) x[w] /= length;
    for (std::size_t w = 0; w < x.size(); ++w) mixed[w] = self_[w] * x[w];
    for (const MixingEdge& edge : edges_)
      mixed[static_cast<std::size_t>(edge.to)] +=
          edge.weight * x[static_cast<std::size_t>(edge.from)];
    largest = squares(mixed);
    for (std::size_t w = 0; w < x.size(); ++w) x[w] = self_[w] * mixed[w];
    for (const MixingEdge& edge : edges_)
      x[static_cast<std::size_t>(edge.from)] +=
          edge.weight * mixed[static_cast<std::size_t>(edge.to)];
    if (largest < 1e-24 || (i > 50 && std::abs(largest - before) < 1e-15 * largest)) break;
    before = largest;
  }
  return 1 - std::sqrt(largest);
}

std::vector<GivenEdge> both_ways(const GossipEdges& edges) {
  std::vector<GivenEdge> both;
  for (const auto& [a, b] : edges) {
    both.push_back({.from = a, .to = b});
    both.push_back({.from = b, .to = a});
  }
  return both;
}

std::vector<GivenEdge> directed_ring(int workers) {
  std::vector<GivenEdge> edges;
  for (int i = 0; i < workers && workers > 1; ++i)
    edges.push_back({.from = i, .to = (i + 1) % workers});
  return edges;
}

std::vector<GivenEdge> directed_exponential(int workers) {
  std::vector<GivenEdge> edges;
  for (int i = 0; i < workers; ++i)
    for (std::int64_t step = 1; step < workers; step *= 2)
      edges.push_back({.from = i, .to = static_cast<int>((i + step) % workers)});
  return edges;
}

Mixing make_mixing(int workers, const std::vector<GivenEdge>& edges) {
  const auto given =
      std::ranges::count_if(edges, [](const GivenEdge& edge) { return edge.weight.has_value(); });
  if (given > 0 && given < std::ssize(edges))
    refuse_mixing(workers, "some edges have weights and others have none", "all of them or none");
  std::vector<int> senders(static_cast<std::size_t>(std::max(workers, 0)));
  for (const GivenEdge& edge : edges)
    if (edge.to >= 0 && edge.to < workers) ++senders[static_cast<std::size_t>(edge.to)];
  std::vector<MixingEdge> weighted;
  for (const GivenEdge& edge : edges) {
    const bool known = std::min(edge.from, edge.to) >= 0 && std::max(edge.from, edge.to) < workers;
    const int most = known ? std::max(senders[static_cast<std::size_t>(edge.from)],
                                      senders[static_cast<std::size_t>(edge.to)])
                           : 1;
    weighted.push_back({edge.from, edge.to, edge.weight.value_or(1.0 / (1 + most))});
  }
  return Mixing(workers, std::move(weighted));
}

}  // namespace gradwire::sim
