#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scenarios/scenario.h"
#include "trainers/data/data_set.h"

/// Which worker has which training samples: a pure function of the data, the settings and the
/// seed. Every training sample belongs to exactly one worker, and every worker has at least one.
namespace gradwire::trainers {

class Partition {
 public:
  /// `shards`: the samples of each worker.
  explicit Partition(const std::vector<std::vector<std::uint32_t>>& shards);

  int workers() const { return static_cast<int>(begin_.size()) - 1; }
  std::span<const std::uint32_t> shard(int worker) const {
    const auto w = static_cast<std::size_t>(worker);
    return std::span(samples_).subspan(begin_[w], begin_[w + 1] - begin_[w]);
  }

 private:
  std::vector<std::uint32_t> samples_;
  std::vector<std::size_t> begin_;  ///< [workers + 1], in samples_
};

/// Samples dealt like cards in a random order: sizes differ by one at most. Throws TrainerError
/// where there are fewer samples than workers.
Partition deal(std::span<const std::uint32_t> train, int workers, std::uint64_t seed);

/// As /workload/data/partition says.
///
/// - iid: deal(); with a spread of sizes, parts of a random order with those sizes.
/// - classes: each worker has that many classes, so that a class has nearly equally many workers;
///   these part its samples by their weights.
/// - dirichlet (Hsu, Qi, Brown: "Measuring the effects of non-identical data distribution for
///   federated visual classification", 2019): worker w draws q_w from Dirichlet(alpha p), p being
///   the classes' shares of all samples. Workers take samples in turn, each of a class drawn by
///   q_w, of classes that have samples left. With no such class in q_w: by what is left.
/// - skew (Aketi, Kodge, Roy, arXiv 2111.09389): a share of each class's samples, drawn at random,
/// is
///   sorted by class and cut into a piece for each worker; the rest is dealt as by deal().
/// - shards (McMahan et al.: "Communication-efficient learning of deep networks from decentralized
///   data", 2017): samples sorted by class (text: in its order), cut into equal shards, of which
///   each worker has that many at random.
///
/// Weights are e^(spread z), z from N(0, 1); sizes are proportional to them, rounded, at least 1.
/// Throws TrainerError naming a worker that would have no samples, and where nobody would have a
/// class.
Partition make_partition(const DataSet& data, const scenarios::Workload::Partition& settings,
                         int workers, std::uint64_t seed);

/// Parts of `n` proportional to `weights`, rounded by largest remainders, equal ones in order; at
/// least 1 each where `n` suffices.
std::vector<std::size_t> apportion(std::size_t n, std::span<const double> weights);

}  // namespace gradwire::trainers
