#include "trainers/schedules/gossip_mixer.h"

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
      if (y_.empty())
        weigh(static_cast<int>(i), to);
      else
        move(static_cast<int>(i), to);
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

  /// Adds in the order of all j, the worker itself among them: on a complete graph with equal
  /// weights all workers then get the same bits.
  void weigh(int i, float* __restrict to) const {
    std::fill_n(to, count_, 0.0f);
    const auto add = [&](double weight, const float* __restrict from) {
      const auto w = static_cast<float>(weight);
      for (std::size_t e = 0; e < count_; ++e) to[e] += w * from[e];
    };
    bool added = false;
    for (std::size_t k = mixing_.first_into(i); k < mixing_.first_into(i + 1); ++k) {
      const sim::MixingEdge& edge = mixing_.edges()[k];
      if (!added && edge.from > i) {
        add(mixing_.self(i), own(i));
        added = true;
      }
      add(edge.weight, own(edge.from));
    }
    if (!added) add(mixing_.self(i), own(i));
  }

  void move(int i, float* __restrict to) const {
    std::copy_n(own(i), count_, to);
    const float* __restrict mine = known(i);
    for (std::size_t k = mixing_.first_into(i); k < mixing_.first_into(i + 1); ++k) {
      const sim::MixingEdge& edge = mixing_.edges()[k];
      const auto w = static_cast<float>(step_ * edge.weight);
      const float* __restrict theirs = known(edge.from);
      for (std::size_t e = 0; e < count_; ++e) to[e] += w * (theirs[e] - mine[e]);
    }
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

void mean_of(std::span<const std::span<float>> x, std::span<float> m) {
  std::vector<double> sum(m.size());
  for (const std::span<float> model : x)
    for (std::size_t e = 0; e < m.size(); ++e) sum[e] += static_cast<double>(model[e]);
  for (std::size_t e = 0; e < m.size(); ++e)
    m[e] = static_cast<float>(sum[e] / static_cast<double>(x.size()));
}

}  // namespace gradwire::trainers
