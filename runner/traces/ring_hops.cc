#include "runner/traces/ring_hops.h"

#include <algorithm>
#include <numeric>

#include "results/prediction/step_model.h"
#include "runner/traces/sampled_messages.h"

namespace gradwire::runner {
namespace {

/// Messages of workers that go on alone; message k n + r is worker r's of hop k.
class RingRun {
 public:
  RingRun(const sim::Cluster& cluster, const sim::TransportSettings& transport, int workers,
          const std::vector<RingHop>& hops)
      : messages_(cluster, transport), workers_(workers), hops_(hops), sums_(hops.size(), 0) {}

  std::vector<double> run() {
    for (int worker = 0; worker < workers_; ++worker) plan(worker, 0, 0);
    messages_.run([&](std::int64_t id, double time) {
      const auto hop = static_cast<std::size_t>(id / workers_);
      sums_[hop] += time;
      plan(static_cast<int>((id + 1) % workers_), hop + 1, time);
    });
    for (double& sum : sums_) sum /= workers_;
    return sums_;
  }

 private:
  void plan(int worker, std::size_t hop, double now) {
    if (hop >= hops_.size()) return;
    messages_.plan(now + hops_[hop].pause, static_cast<std::int64_t>(hop) * workers_ + worker,
                   worker, (worker + 1) % workers_, hops_[hop].bytes);
  }

  SampledMessages messages_;
  int workers_;
  const std::vector<RingHop>& hops_;
  std::vector<double> sums_;
};

}  // namespace

FluidRing::FluidRing(const sim::Cluster& cluster, int workers, double delay_s)
    : delay_(delay_s), sent_(static_cast<std::size_t>(workers), 0), times_(sent_), next_(sent_) {
  for (int worker = 0; worker < workers; ++worker)
    paths_.emplace_back(cluster, worker, (worker + 1) % workers);
}

double FluidRing::receive(const RingHop& hop) {
  const double efficiency = results::usual_constants()[0] / (1 + results::kAcknowledgements);
  const std::size_t n = paths_.size();
  for (std::size_t r = 0; r < n; ++r) {
    sent_[r] = paths_[r].pass(std::max(times_[r] + hop.pause, sent_[r]), hop.bytes / efficiency);
    next_[(r + 1) % n] = sent_[r] + delay_;
  }
  std::swap(times_, next_);
  return std::accumulate(times_.begin(), times_.end(), 0.0) / static_cast<double>(n);
}

std::vector<double> received_by_flow(const sim::Cluster& cluster,
                                     const sim::TransportSettings& transport, int workers,
                                     const std::vector<RingHop>& hops, double most_work) {
  const std::size_t count = affordable(
      hops, most_work, [&](const RingHop& hop) { return workers * work_of_message(hop.bytes); });
  const std::vector<RingHop> first(hops.begin(), hops.begin() + static_cast<std::ptrdiff_t>(count));
  return RingRun(cluster, transport, workers, first).run();
}

}  // namespace gradwire::runner
