#include "runner/traces/served_exchanges.h"

#include <algorithm>
#include <numeric>

#include "results/prediction/step_model.h"
#include "runner/traces/sampled_messages.h"

namespace gradwire::runner {
namespace {

/// Messages of an exchange are 2 n numbers: n pushes, then n pulls.
class ServerRun {
 public:
  ServerRun(const sim::Cluster& cluster, const sim::TransportSettings& transport, int workers,
            const std::vector<ServedExchange>& exchanges)
      : messages_(cluster, transport),
        workers_(workers),
        exchanges_(exchanges),
        sums_(exchanges.size(), 0),
        pushed_(exchanges.size(), 0) {}

  std::vector<double> run() {
    for (int worker = 0; worker < workers_; ++worker) push(worker, 0, 0);
    messages_.run([&](std::int64_t id, double time) { receive(id, time); });
    for (double& sum : sums_) sum /= workers_;
    return sums_;
  }

 private:
  std::int64_t first_of(std::size_t exchange) const {
    return 2 * static_cast<std::int64_t>(exchange) * workers_;
  }
  void push(int worker, std::size_t exchange, double now) {
    if (exchange >= exchanges_.size()) return;
    messages_.plan(now + exchanges_[exchange].pause, first_of(exchange) + worker, worker, workers_,
                   exchanges_[exchange].push);
  }
  void receive(std::int64_t id, double time) {
    const auto exchange = static_cast<std::size_t>(id / (2 * workers_));
    const auto place = static_cast<int>(id % (2 * workers_));
    if (place >= workers_) {
      sums_[exchange] += time;
      push(place - workers_, exchange + 1, time);
    } else if (++pushed_[exchange] == workers_) {
      for (int worker = 0; worker < workers_; ++worker)
        messages_.plan(time, first_of(exchange) + workers_ + worker, workers_, worker,
                       exchanges_[exchange].pull);
    }
  }

  SampledMessages messages_;
  int workers_;
  const std::vector<ServedExchange>& exchanges_;
  std::vector<double> sums_;
  std::vector<int> pushed_;
};

}  // namespace

FluidServer::FluidServer(const sim::Cluster& cluster, int workers, double delay_s, double bandwidth)
    : delay_(delay_s), bandwidth_(bandwidth), times_(static_cast<std::size_t>(workers), 0) {
  for (int worker = 0; worker < workers; ++worker) {
    there_.emplace_back(cluster, worker, workers);
    back_.emplace_back(cluster, workers, worker);
  }
}

double FluidServer::shared(double bytes) const {
  return bandwidth_ > 0 ? bytes * static_cast<double>(times_.size()) / bandwidth_ : 0;
}

double FluidServer::receive(const ServedExchange& exchange) {
  const double efficiency = results::usual_constants()[0];
  const double push = exchange.push / efficiency, pull = exchange.pull / efficiency;
  double pushed = std::ranges::min(times_) + exchange.pause + shared(push);
  for (std::size_t w = 0; w < times_.size(); ++w)
    pushed = std::max(pushed, there_[w].pass(times_[w] + exchange.pause, push));
  pushed += delay_;
  for (std::size_t w = 0; w < times_.size(); ++w)
    times_[w] = std::max(pushed + shared(pull), back_[w].pass(pushed, pull)) + delay_;
  return std::accumulate(times_.begin(), times_.end(), 0.0) / static_cast<double>(times_.size());
}

std::vector<double> received_by_flow(const sim::Cluster& cluster,
                                     const sim::TransportSettings& transport, int workers,
                                     const std::vector<ServedExchange>& exchanges,
                                     double most_work) {
  const auto work_of = [&](const ServedExchange& exchange) {
    return workers * (work_of_message(exchange.push) + work_of_message(exchange.pull));
  };
  const auto count = static_cast<std::ptrdiff_t>(affordable(exchanges, most_work, work_of));
  const std::vector<ServedExchange> first(exchanges.begin(), exchanges.begin() + count);
  return ServerRun(cluster, transport, workers, first).run();
}

}  // namespace gradwire::runner
