#include "trainers/data/partition.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>

#include "trainers/data/sampling.h"
#include "trainers/data/variates.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

using Shards = std::vector<std::vector<std::uint32_t>>;

// Philox streams of a partition, besides kShardStream.
constexpr std::uint32_t kSizeStream = kPartitionStream, kDeckStream = kPartitionStream + 1,
                        kWithinStream = kPartitionStream + 2, kMixtureStream = kPartitionStream + 3,
                        kPickStream = kPartitionStream + 4;

[[noreturn]] void too_few(std::size_t samples, int workers) {
  throw TrainerError("deal samples to", std::to_string(workers) + " workers",
                     "there are only " + std::to_string(samples) + " training samples",
                     "use fewer workers or a larger data set");
}

std::vector<std::uint32_t> shuffled(std::span<const std::uint32_t> samples,
                                    const RandomStream& stream) {
  std::vector<std::uint32_t> order = permutation(samples.size(), stream);
  for (std::uint32_t& each : order) each = samples[each];
  return order;
}

std::vector<double> weights_of(int workers, double spread, std::uint64_t seed) {
  std::vector<double> weights(static_cast<std::size_t>(workers), 1.0);
  if (spread == 0) return weights;
  for (std::size_t w = 0; w < weights.size(); ++w)
    weights[w] = portable_exp(spread * normal({seed, 0, 0, kSizeStream}, w));
  return weights;
}

/// The training samples of each class.
Shards by_class(const DataSet& data) {
  Shards classes(static_cast<std::size_t>(data.classes));
  for (const std::uint32_t sample : data.train) classes[data.labels[sample]].push_back(sample);
  return classes;
}

/// `samples` in parts of these sizes, in order, each appended to the shard of its owner.
void hand_out(std::span<const std::uint32_t> samples, std::span<const std::size_t> sizes,
              std::span<const std::size_t> owners, Shards& shards) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto part = samples.subspan(next, sizes[i]);
    shards[owners[i]].insert(shards[owners[i]].end(), part.begin(), part.end());
    next += sizes[i];
  }
}

Shards iid(const DataSet& data, std::span<const double> weights, std::uint64_t seed) {
  Shards shards(weights.size());
  std::vector<std::size_t> owners(weights.size());
  std::iota(owners.begin(), owners.end(), std::size_t{0});
  hand_out(shuffled(data.train, {seed, 0, 0, kShardStream}), apportion(data.train.size(), weights),
           owners, shards);
  return shards;
}

/// Packs of all classes in random orders, one after the other. A worker takes the first cards that
/// it does not have yet; [class]: its workers, ascending.
std::vector<std::vector<std::size_t>> deal_classes(int classes, int each, std::size_t workers,
                                                   std::uint64_t seed) {
  std::vector<std::vector<std::size_t>> workers_of(static_cast<std::size_t>(classes));
  std::vector<std::uint32_t> deck;
  std::uint32_t packs = 0;
  for (std::size_t w = 0; w < workers; ++w) {
    std::vector<std::uint32_t> hand;
    while (hand.size() < static_cast<std::size_t>(each)) {
      const auto fresh = [&](std::uint32_t c) { return std::ranges::find(hand, c) == hand.end(); };
      const auto card = std::ranges::find_if(deck, fresh);
      if (card == deck.end()) {
        const auto pack =
            permutation(static_cast<std::size_t>(classes), {seed, packs++, 0, kDeckStream});
        deck.insert(deck.end(), pack.begin(), pack.end());
        continue;
      }
      hand.push_back(*card);
      workers_of[*card].push_back(w);
      deck.erase(card);
    }
  }
  return workers_of;
}

Shards few_classes(const DataSet& data, int each, std::span<const double> weights,
                   std::uint64_t seed) {
  const std::string attempted = "give each worker classes of";
  if (each > data.classes)
    throw TrainerError(attempted, data.name,
                       "it has " + std::to_string(data.classes) + " of them, and " +
                           std::to_string(each) + " are asked for",
                       "lower /workload/data/partition/classes", ErrorKind::kScenario);
  const auto held = static_cast<std::size_t>(each) * weights.size();
  if (held < static_cast<std::size_t>(data.classes))
    throw TrainerError(
        attempted, data.name,
        std::to_string(weights.size()) + " workers with " + std::to_string(each) +
            " each cannot have all of its " + std::to_string(data.classes) + " classes",
        "raise /workload/data/partition/classes or use more workers", ErrorKind::kScenario);
  const Shards samples = by_class(data);
  const auto workers_of = deal_classes(data.classes, each, weights.size(), seed);
  Shards shards(weights.size());
  for (std::size_t c = 0; c < samples.size(); ++c) {
    std::vector<double> parts;
    for (const std::size_t worker : workers_of[c]) parts.push_back(weights[worker]);
    hand_out(shuffled(samples[c], {seed, static_cast<std::uint32_t>(c), 0, kWithinStream}),
             apportion(samples[c].size(), parts), workers_of[c], shards);
  }
  return shards;
}

/// Up to a factor; the largest is 1. Logarithms, since gamma variates of small shapes underflow.
std::vector<double> dirichlet(std::span<const double> shapes, const RandomStream& stream) {
  WordSequence words(stream);
  std::vector<double> draw;
  for (const double shape : shapes) {
    if (shape == 0) {
      draw.push_back(-1e300);
      continue;
    }
    // gamma(a) = gamma(a + 1) u^(1/a)
    const double whole = portable_log(words.gamma(shape + 1));
    draw.push_back(whole + portable_log(words.uniform()) / shape);
  }
  const double largest = *std::ranges::max_element(draw);
  for (double& each : draw) each = each - largest < -690 ? 0 : portable_exp(each - largest);
  return draw;
}

/// A class drawn by `weights`, of those that have samples left; by what is left if none of those.
std::size_t pick(std::span<const double> weights, const Shards& left, double uniform) {
  double sum = 0, all = 0;
  for (std::size_t c = 0; c < left.size(); ++c) {
    if (!left[c].empty()) sum += weights[c];
    all += static_cast<double>(left[c].size());
  }
  double rest = uniform * (sum > 0 ? sum : all);
  std::size_t last = left.size();
  for (std::size_t c = 0; c < left.size(); ++c) {
    if (left[c].empty()) continue;
    const double share = sum > 0 ? weights[c] : static_cast<double>(left[c].size());
    if (share == 0) continue;
    last = c;
    if (rest < share) break;
    rest -= share;
  }
  GRADWIRE_ASSERT(last < left.size());
  return last;
}

Shards mixtures(const DataSet& data, double alpha, std::span<const double> weights,
                std::uint64_t seed) {
  Shards left = by_class(data);
  std::vector<double> shapes;
  for (std::size_t c = 0; c < left.size(); ++c) {
    shapes.push_back(alpha * static_cast<double>(left[c].size()) /
                     static_cast<double>(data.train.size()));
    left[c] = shuffled(left[c], {seed, static_cast<std::uint32_t>(c), 0, kWithinStream});
  }
  std::vector<std::vector<double>> mixture;
  for (std::uint32_t w = 0; w < weights.size(); ++w)
    mixture.push_back(dirichlet(shapes, {seed, 0, w, kMixtureStream}));
  const std::vector<std::size_t> sizes = apportion(data.train.size(), weights);
  Shards shards(weights.size());
  const std::size_t largest = *std::ranges::max_element(sizes);
  for (std::size_t turn = 0; turn < largest; ++turn)
    for (std::size_t w = 0; w < shards.size(); ++w) {
      if (sizes[w] <= turn) continue;
      const RandomStream stream{seed, 0, static_cast<std::uint32_t>(w), kPickStream};
      std::vector<std::uint32_t>& from = left[pick(mixture[w], left, open_uniform(stream, turn))];
      shards[w].push_back(from.back());
      from.pop_back();
    }
  return shards;
}

Shards sorted_shards(const DataSet& data, int each, std::size_t workers, std::uint64_t seed) {
  std::vector<std::uint32_t> order = data.train;
  if (!data.is_text())
    std::ranges::stable_sort(order, {}, [&](std::uint32_t sample) { return data.labels[sample]; });
  const std::size_t per_worker = static_cast<std::size_t>(each), count = workers * per_worker;
  const std::vector<std::uint32_t> drawn = permutation(count, {seed, 0, 0, kShardStream});
  Shards shards(workers);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = drawn[i] * order.size() / count;
    const std::size_t end = (drawn[i] + std::size_t{1}) * order.size() / count;
    std::vector<std::uint32_t>& shard = shards[i / per_worker];
    shard.insert(shard.end(), order.begin() + static_cast<std::ptrdiff_t>(first),
                 order.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return shards;
}

/// Of each class the first of a random order are sorted; what is left is dealt as deal() does.
Shards skewed(const DataSet& data, double skew, int workers, std::uint64_t seed) {
  std::vector<std::uint32_t> sorted;
  std::vector<bool> taken(data.labels.size());
  const Shards classes = by_class(data);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    std::vector<std::uint32_t> order =
        shuffled(classes[c], {seed, static_cast<std::uint32_t>(c), 0, kWithinStream});
    order.resize(static_cast<std::size_t>(skew * static_cast<double>(order.size()) + 0.5));
    for (const std::uint32_t sample : order) taken[sample] = true;
    sorted.insert(sorted.end(), order.begin(), order.end());
  }
  std::vector<std::uint32_t> rest;
  for (const std::uint32_t sample : data.train)
    if (!taken[sample]) rest.push_back(sample);
  Shards shards(static_cast<std::size_t>(workers));
  rest = shuffled(rest, {seed, 0, 0, kShardStream});
  for (std::size_t i = 0; i < rest.size(); ++i) shards[i % shards.size()].push_back(rest[i]);
  for (std::size_t w = 0; w < shards.size(); ++w) {
    const std::size_t first = w * sorted.size() / shards.size();
    const std::size_t end = (w + 1) * sorted.size() / shards.size();
    shards[w].insert(shards[w].end(), sorted.begin() + static_cast<std::ptrdiff_t>(first),
                     sorted.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return shards;
}

}  // namespace

Partition::Partition(const std::vector<std::vector<std::uint32_t>>& shards) : begin_{0} {
  for (const auto& shard : shards) {
    samples_.insert(samples_.end(), shard.begin(), shard.end());
    begin_.push_back(samples_.size());
  }
}

std::vector<std::size_t> apportion(std::size_t n, std::span<const double> weights) {
  const std::size_t least = n >= weights.size() ? 1 : 0;
  const std::size_t shared = n - least * weights.size();
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::size_t> parts, order;
  std::vector<double> remainders;
  std::size_t given = 0;
  for (const double weight : weights) {
    const double exact = static_cast<double>(shared) * (weight / sum);
    const auto whole = std::min(static_cast<std::size_t>(exact), shared - given);
    given += whole;
    order.push_back(parts.size());
    parts.push_back(least + whole);
    remainders.push_back(exact - static_cast<double>(whole));
  }
  std::ranges::stable_sort(order, std::greater<>{}, [&](std::size_t i) { return remainders[i]; });
  for (std::size_t i = 0; given < shared; i = (i + 1) % order.size(), ++given) ++parts[order[i]];
  return parts;
}

Partition deal(std::span<const std::uint32_t> train, int workers, std::uint64_t seed) {
  Shards shards(static_cast<std::size_t>(workers));
  if (train.size() < shards.size()) too_few(train.size(), workers);
  const std::vector<std::uint32_t> order = shuffled(train, {seed, 0, 0, kShardStream});
  for (std::size_t i = 0; i < order.size(); ++i) shards[i % shards.size()].push_back(order[i]);
  return Partition(shards);
}

Partition make_partition(const DataSet& data, const scenarios::Workload::Partition& settings,
                         int workers, std::uint64_t seed) {
  if (settings.kind == "iid" && settings.size_spread == 0) return deal(data.train, workers, seed);
  if (data.train.size() < static_cast<std::size_t>(workers)) too_few(data.train.size(), workers);
  const std::vector<double> weights = weights_of(workers, settings.size_spread, seed);
  Shards shards;
  if (settings.kind == "classes")
    shards = few_classes(data, settings.classes, weights, seed);
  else if (settings.kind == "dirichlet")
    shards = mixtures(data, settings.alpha, weights, seed);
  else if (settings.kind == "skew")
    shards = skewed(data, settings.skew, workers, seed);
  else if (settings.kind == "shards")
    shards = sorted_shards(data, settings.shards, weights.size(), seed);
  else
    shards = iid(data, weights, seed);
  for (std::size_t w = 0; w < shards.size(); ++w)
    if (shards[w].empty())
      throw TrainerError(
          "part the samples by " + settings.kind + " among", std::to_string(workers) + " workers",
          "worker " + std::to_string(w) + " would have none",
          "use fewer workers, a larger data set, or another partition", ErrorKind::kScenario);
  return Partition(shards);
}

}  // namespace gradwire::trainers
