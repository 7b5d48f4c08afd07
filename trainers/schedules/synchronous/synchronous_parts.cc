#include <algorithm>

#include "trainers/schedules/memory_use.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"
#include "trainers/timing/compute_times.h"
#include "trainers/timing/offload.h"
#include "trainers/updates/shards.h"

/// What each worker of a synchronous trainer holds, whole or in part (ZeRO, arXiv 1910.02054), and
/// how long its steps take.
namespace gradwire::trainers {
namespace {

/// The most that two neighbouring buckets take as fp32; without `overlap` all of them wait.
std::int64_t waiting_bytes(const Layout& layout, bool overlap) {
  if (!overlap) return 4 * layout.elements();
  std::int64_t most = 0, before = 0;
  for (const BucketSlot& bucket : layout.buckets()) {
    most = std::max(most, before + bucket.count);
    before = bucket.count;
  }
  return 4 * most;
}

}  // namespace

void SynchronousTrainer::micro_batches_of(int worker, int thread) {
  const auto w = static_cast<std::size_t>(worker);
  const std::span<const std::uint32_t> samples = learner_.batch(worker, step_);
  std::vector<float>& sum = local_sums_[w];
  std::ranges::fill(sum, 0.0f);
  losses_[w] = 0;
  for (int part = 0; part < micro_batches(); ++part) {
    const auto own =
        sim::chunk_range(static_cast<std::int64_t>(samples.size()), micro_batches(), part);
    const auto share = static_cast<float>(own.count) / static_cast<float>(samples.size());
    losses_[w] += share * learner_.pass_over(slice(samples, own), worker, thread, step_,
                                             worker == 0, *gradients_[w]);
    const auto gradients = gradients_[w]->tensors();
    for (std::size_t t = 0; t < gradients.size(); ++t) {
      const std::span<float> to = slice(sum, layout().tensors()[t]);
      for (std::size_t e = 0; e < to.size(); ++e) to[e] += share * gradients[t][e];
    }
  }
}

void SynchronousTrainer::gather_before(StepTraffic& traffic) {
  if (zero() != 3) return;
  gather_->move(traffic, weights_);
  learner_.weights_changed();
}

void SynchronousTrainer::gather_after(StepTraffic& traffic) {
  if (!gather_) return;
  gather_->take(weights_);
  if (zero() == 3) return;
  gather_->move(traffic, weights_);
  learner_.weights_changed();
}

scenarios::ComputeProfile SynchronousTrainer::times_of_steps() const {
  scenarios::ComputeProfile now = in_phase(learner_.profile(), method(), phase_, layout());
  Seconds before = now.forward + now.update;  // a local step; of the last, what is exchanged
  for (const auto& bucket : now.buckets) before += bucket.backward;
  now.forward += before * (local_steps() - 1);
  now.forward += (before - now.update) * (micro_batches() - 1);  // their profile is of one part
  const double batches = static_cast<double>(learner_.sampler().shard(0).size()) /
                         scenario().workload.batch_per_worker;
  now.forward += (before - now.update) * (method().passes_in(phase_, batches) - 1);
  take_update_times(scenario(), layout(), now);
  return now;
}

std::vector<scenarios::Figure> SynchronousTrainer::memory_of_ranks() const {
  const std::int64_t own = (sends_own() && micro_batches() == 1 ? 4 : 0) * parameters() +
                           static_cast<std::int64_t>(method().buffers()) * 4 * parameters();
  MemoryRoles roles{.optimizer_bytes = updates_.state_bytes(),
                    .worker_bytes = own,
                    .server = exchange_settings_.server,
                    .updates_at_server = exchange_->answers_weights(),
                    .states_on_device = encoder_ != nullptr};
  if (zero() >= 2) {
    const std::int64_t buckets = waiting_bytes(layout(), scenario().exchange.overlap);
    roles.gradient_bytes = 4 * largest_shard(layout(), workers());
    roles.bucket_bytes = buckets;
    if (zero() == 3) {
      roles.parameter_bytes = gather_->largest_bytes();
      roles.bucket_bytes += waiting_bytes(layout(), true);
    }
  }
  if (const std::int64_t bytes = offloaded_bytes(scenario(), layout()); bytes > 0) {
    roles.offload_bytes = bytes;
    roles.host_bytes = roles.optimizer_bytes + bytes;  // a gradient and a weight of each
    roles.optimizer_bytes = 0;
    if (zero() >= 2) roles.gradient_bytes = 0;  // a bucket's goes to the host once it is reduced
  }
  return memory_figures(learner_, roles);
}

}  // namespace gradwire::trainers
