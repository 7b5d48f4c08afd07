#pragma once
#include <span>
#include <vector>

#include "trainers/routes/exchange.h"

/// Weights of which each worker holds a part (trainers/updates/shards.h): after an update all parts
/// go to all workers, round a ring. Works on spans of floats; no LibTorch.
namespace gradwire::trainers {

/// How often a step of that stage of ZeRO gathers the weights.
inline std::size_t gathers_in(int zero) {
  return zero == 0 ? 0 : zero == 3 ? 2 : 1;
}

/// Charges what the gathers of a step of that stage send, without any data.
void charge_gathers(StepTraffic& traffic, const Layout& layout, int workers, int zero);

class WeightGather {
 public:
  /// `layout` must outlive it. `passes`: how often a step gathers every bucket.
  WeightGather(const Layout& layout, int workers, std::size_t passes);

  /// Every worker's part, from `weights`, where its update has left it.
  void take(std::span<const float> weights);
  /// All of the step's gathers, with real messages: `weights` become what worker 0 has received.
  void move(StepTraffic& traffic, std::span<float> weights);
  /// What a worker holds between steps, where weights are gathered before they are used.
  std::int64_t largest_bytes() const;
  /// For tests: what that worker has, after move().
  void keep_replicas() { replicas_.resize(shards_.size()); }
  std::span<const float> replica(int worker) const {
    return replicas_[static_cast<std::size_t>(worker)];
  }

 private:
  void move_bucket(StepTraffic& traffic, std::size_t pass, std::size_t bucket,
                   std::span<float> weights);
  /// Where in its worker's part the bucket's begins.
  std::int64_t offset_of(std::size_t bucket, int worker) const;

  const Layout& layout_;
  std::size_t passes_;
  std::vector<std::vector<float>> shards_;  ///< [worker]: buckets one after the other
  std::vector<std::vector<float>> replicas_;
};

}  // namespace gradwire::trainers
