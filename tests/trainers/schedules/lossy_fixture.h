#pragma once
#include <vector>

#include "sim/executors.h"
#include "tests/trainers/routes/exchange_fixture.h"

namespace gradwire::trainers {

/// An exchange, its step's graph, and what its workers make of what arrives.
class LossyRig {
 public:
  LossyRig(const Layout& layout, ExchangeSettings settings)
      : layout_(layout),
        settings_(std::move(settings)),
        exchange_(make_exchange(settings_, layout, states_)),
        template_(make_template()) {}

  const StepTemplate& plan() const { return template_; }
  const std::vector<Bytes>& planned() const { return planned_; }

  /// By worker: its mean of gradients[worker][tensor], without what is missing.
  std::vector<std::vector<float>> means(
      const std::vector<std::vector<std::vector<float>>>& gradients,
      std::span<const sim::MissingData> missing, std::int64_t step = 0) {
    const StateStore::States before = states_.all();
    std::vector<float> mean(static_cast<std::size_t>(layout_.elements()));
    StepTraffic complete(template_, planned_);
    play(complete, gradients, step, mean);
    if (missing.empty()) return std::vector<std::vector<float>>(gradients.size(), mean);
    states_.restore(before);
    std::vector<Bytes> bytes;
    StepTraffic traffic(template_, bytes, missing);
    play(traffic, gradients, step, mean);
    std::vector<std::vector<float>> means;
    for (int w = 0; w < settings_.workers; ++w) {
      const auto own = exchange_->replica(w);
      means.emplace_back(own.begin(), own.end());
    }
    CHECK(bits_equal(means[0], mean));
    return means;
  }

 private:
  StepTemplate make_template() const {
    std::vector<std::vector<Stage>> stages;
    for (std::size_t b = 0; b < layout_.buckets().size(); ++b)
      stages.push_back(exchange_->stages(b, Seconds(0)));
    return {settings_.workers, stages, true, settings_.shards};
  }
  void play(StepTraffic& traffic, const std::vector<std::vector<std::vector<float>>>& gradients,
            std::int64_t step, std::span<float> mean) {
    const auto spans = [&](int w) {
      const auto& own = gradients[static_cast<std::size_t>(w)];
      return std::vector<std::span<const float>>(own.begin(), own.end());
    };
    for (int w = 0; w < settings_.workers; ++w) exchange_->propose(w, spans(w));
    if (exchange_->shares_scales()) exchange_->agree(traffic);
    spans_.clear();
    for (int w = 0; w < settings_.workers; ++w) {
      spans_.push_back(spans(w));
      exchange_->encode(w, spans_.back(), step);
    }
    exchange_->combine(traffic, mean);
  }

  const Layout& layout_;
  ExchangeSettings settings_;
  StateStore states_;
  std::unique_ptr<Exchange> exchange_;
  StepTemplate template_;
  std::vector<Bytes> planned_;
  std::vector<std::vector<std::span<const float>>> spans_;
};

/// A step's losses on the flow executor over a star whose links lose `loss` of all datagrams of
/// `segment` bytes.
inline std::vector<sim::MissingData> losses_of_a_step(const StepTemplate& plan,
                                                      const std::vector<Bytes>& bytes, int hosts,
                                                      double loss, std::uint64_t seed,
                                                      Bytes segment = Bytes(40)) {
  sim::LinkSpec link;
  link.loss = loss;
  sim::ExecutorOptions options;
  options.transport.protocol = sim::TransportSettings::Protocol::kUdpLossy;
  options.transport.segment = segment;
  options.transport.wire_segment = segment + Bytes(90);
  options.seed = seed;
  const auto executor = sim::make_executor("flow", sim::Cluster::star(hosts, link), options);
  const std::vector<Seconds> seconds(plan.graph()->size(), Seconds(0));
  const sim::GraphId graph = executor->submit({plan.graph(), bytes, seconds});
  sim::run_to_end(*executor, graph);
  const auto missing = executor->missing(graph);
  return {missing.begin(), missing.end()};
}

}  // namespace gradwire::trainers
