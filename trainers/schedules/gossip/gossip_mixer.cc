#include "trainers/schedules/gossip/gossip_mixer.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace gradwire::trainers {
namespace {

constexpr std::size_t kBlock = 4096;

/// Sums over the elements of a block.
struct Sums {
  double before = 0, moved = 0, apart = 0;
};

/// to = (self + the weights of unknown edges) own + sum of W_ij known(k), k being the edge from j:
/// `count` elements of worker i. Adds in the order of all j, the worker itself among them: on a
/// complete graph with equal weights all workers then get the same bits. `known` gives null for an
/// edge of which nothing is known.
template <class Known>
void weigh(const sim::Mixing& mixing, int i, const float* own, const Known& known,
           std::size_t count, float* __restrict to) {
  std::fill_n(to, count, 0.0f);
  double self = mixing.self(i);
  for (std::size_t k = mixing.first_into(i); k < mixing.first_into(i + 1); ++k)
    if (known(k) == nullptr) self += mixing.edges()[k].weight;
  const auto add = [&](double weight, const float* __restrict from) {
    const auto w = static_cast<float>(weight);
    for (std::size_t e = 0; e < count; ++e) to[e] += w * from[e];
  };
  bool added = false;
  for (std::size_t k = mixing.first_into(i); k < mixing.first_into(i + 1); ++k) {
    const sim::MixingEdge& edge = mixing.edges()[k];
    if (!added && edge.from > i) {
      add(self, own);
      added = true;
    }
    if (known(k) != nullptr) add(edge.weight, known(k));
  }
  if (!added) add(self, own);
}

/// to = own + step sum of W_ij (known(k) - mine).
template <class Known>
void move(const sim::Mixing& mixing, int i, double step, const float* own,
          const float* __restrict mine, const Known& known, std::size_t count,
          float* __restrict to) {
  std::copy_n(own, count, to);
  for (std::size_t k = mixing.first_into(i); k < mixing.first_into(i + 1); ++k) {
    const float* __restrict theirs = known(k);
    if (theirs == nullptr) continue;
    const auto w = static_cast<float>(step * mixing.edges()[k].weight);
    for (std::size_t e = 0; e < count; ++e) to[e] += w * (theirs[e] - mine[e]);
  }
}

/// Works on elements [first, first + count) of all models.
class BlockMixer {
 public:
  BlockMixer(const sim::Mixing& mixing, double step, std::span<const std::span<float>> x,
             std::span<const std::span<const float>> y, std::size_t first, std::size_t count)
      : mixing_(mixing),
        step_(step),
        x_(x),
        y_(y),
        first_(first),
        count_(count),
        mixed_(x.size() * count) {}

  Sums run() {
    std::vector<double> before(count_), after(count_);
    mean(before);
    for (std::size_t i = 0; i < x_.size(); ++i) {
      float* const to = mixed_.data() + i * count_;
      const int worker = static_cast<int>(i);
      const auto sender = [&](std::size_t k) { return mixing_.edges()[k].from; };
      if (y_.empty())
        weigh(
            mixing_, worker, own(worker), [&](std::size_t k) { return own(sender(k)); }, count_,
            to);
      else
        move(
            mixing_, worker, step_, own(worker), known(worker),
            [&](std::size_t k) { return known(sender(k)); }, count_, to);
    }
    for (std::size_t i = 0; i < x_.size(); ++i)
      std::copy_n(mixed_.data() + i * count_, count_, x_[i].data() + first_);
    mean(after);
    return sums(before, after);
  }

 private:
  const float* own(int i) const { return x_[static_cast<std::size_t>(i)].data() + first_; }
  const float* known(int i) const { return y_[static_cast<std::size_t>(i)].data() + first_; }

  void mean(std::vector<double>& m) const {
    for (const std::span<float> model : x_) {
      const float* __restrict from = model.data() + first_;
      for (std::size_t e = 0; e < count_; ++e) m[e] += static_cast<double>(from[e]);
    }
    for (double& each : m) each /= static_cast<double>(x_.size());
  }

  Sums sums(const std::vector<double>& before, const std::vector<double>& after) const {
    Sums sums;
    for (std::size_t e = 0; e < count_; ++e) {
      sums.before += before[e] * before[e];
      sums.moved += (after[e] - before[e]) * (after[e] - before[e]);
    }
    for (const std::span<float> model : x_) {
      const float* __restrict from = model.data() + first_;
      double apart = 0;
      for (std::size_t e = 0; e < count_; ++e) {
        const double difference = static_cast<double>(from[e]) - after[e];
        apart += difference * difference;
      }
      sums.apart += apart / static_cast<double>(x_.size());
    }
    return sums;
  }

  const sim::Mixing& mixing_;
  double step_;
  std::span<const std::span<float>> x_;
  std::span<const std::span<const float>> y_;
  std::size_t first_, count_;
  std::vector<float> mixed_;  ///< [worker, count]
};

}  // namespace

MixOutcome mix(const sim::Mixing& mixing, double step, std::span<const std::span<float>> x,
               std::span<const std::span<const float>> y, WorkerPool& pool) {
  GRADWIRE_ASSERT(x.size() == static_cast<std::size_t>(mixing.workers()));
  GRADWIRE_ASSERT(y.empty() || y.size() == x.size());
  const std::size_t elements = x.front().size();
  std::vector<Sums> parts((elements + kBlock - 1) / kBlock);
  pool.run(static_cast<int>(parts.size()), [&](int block, int) {
    const std::size_t first = static_cast<std::size_t>(block) * kBlock;
    const std::size_t count = std::min(kBlock, elements - first);
    parts[static_cast<std::size_t>(block)] = BlockMixer(mixing, step, x, y, first, count).run();
  });
  Sums all;
  for (const Sums& part : parts) {
    all.before += part.before;
    all.moved += part.moved;
    all.apart += part.apart;
  }
  return {all.before > 0 ? std::sqrt(all.moved / all.before) : 0, all.apart};
}

void mix_one(const sim::Mixing& mixing, int i, double step, std::span<float> x,
             std::span<const float> y, std::span<const std::span<const float>> known,
             std::span<double> change, WorkerPool& pool) {
  const std::size_t begin = mixing.first_into(i), blocks = (x.size() + kBlock - 1) / kBlock;
  GRADWIRE_ASSERT(known.size() == mixing.first_into(i + 1) - begin);
  const double share = 1.0 / mixing.workers();
  pool.run(static_cast<int>(blocks), [&](int block, int) {
    const std::size_t first = static_cast<std::size_t>(block) * kBlock;
    const std::size_t count = std::min(kBlock, x.size() - first);
    const auto of = [&](std::size_t k) -> const float* {
      const std::span<const float> values = known[k - begin];
      return values.empty() ? nullptr : values.data() + first;
    };
    std::vector<float> mixed(count);
    float* const own = x.data() + first;
    if (y.empty())
      weigh(mixing, i, own, of, count, mixed.data());
    else
      move(mixing, i, step, own, y.data() + first, of, count, mixed.data());
    for (std::size_t e = 0; e < count; ++e) {
      change[first + e] += share * (static_cast<double>(mixed[e]) - static_cast<double>(own[e]));
      own[e] = mixed[e];
    }
  });
}

ModelSpread spread_of(std::span<const std::span<float>> x, WorkerPool& pool) {
  const std::size_t elements = x.front().size();
  std::vector<ModelSpread> parts((elements + kBlock - 1) / kBlock);
  pool.run(static_cast<int>(parts.size()), [&](int block, int) {
    const std::size_t first = static_cast<std::size_t>(block) * kBlock;
    ModelSpread& part = parts[static_cast<std::size_t>(block)];
    for (std::size_t e = first; e < std::min(first + kBlock, elements); ++e) {
      double mean = 0;
      for (const std::span<float> model : x) mean += static_cast<double>(model[e]);
      mean /= static_cast<double>(x.size());
      part.mean_square += mean * mean;
      for (const std::span<float> model : x) {
        const double difference = static_cast<double>(model[e]) - mean;
        part.distance += difference * difference / static_cast<double>(x.size());
      }
    }
  });
  ModelSpread all;
  for (const ModelSpread& part : parts) {
    all.mean_square += part.mean_square;
    all.distance += part.distance;
  }
  return all;
}

void mean_of(std::span<const std::span<float>> x, std::span<float> m) {
  std::vector<double> sum(m.size());
  for (const std::span<float> model : x)
    for (std::size_t e = 0; e < m.size(); ++e) sum[e] += static_cast<double>(model[e]);
  for (std::size_t e = 0; e < m.size(); ++e)
    m[e] = static_cast<float>(sum[e] / static_cast<double>(x.size()));
}

}  // namespace gradwire::trainers
