#include "runner/traces/trace_correction.h"

#include <catch2/catch.hpp>

#include "results/prediction/step_model.h"
#include "runner/record/step_summary.h"

using namespace gradwire;
using namespace gradwire::runner;
using results::ExchangeKind;
using results::StepSummary;

namespace {

/// 8 Mbps for a second and nothing for the next, again and again.
sim::RateSchedulePtr on_off(bool on_first) {
  const BitsPerSecond on{8e6}, off{0};
  return sim::RateSchedule::from_pieces(
      "on-off", {{Seconds(0), on_first ? on : off}, {Seconds(1), on_first ? off : on}}, Seconds(2));
}

sim::Cluster two_workers(const sim::RateSchedulePtr& up0, const sim::RateSchedulePtr& up1,
                         int servers = 0) {
  sim::LinkSpec link;
  link.rate = BitsPerSecond(8e6);
  link.delay = Seconds(0);
  sim::LinkSpec fast;
  fast.rate = BitsPerSecond(1e12);
  fast.delay = Seconds(0);
  sim::Cluster cluster =
      servers > 0 ? sim::Cluster::star(2, link, servers, fast) : sim::Cluster::star(2, link);
  for (int worker = 0; worker < 2; ++worker) {
    link.schedule = worker == 0 ? up0 : up1;
    cluster.change_link(worker, link);
  }
  return cluster;
}

/// Seconds of the exchange of a message that takes `share` of a second at 8 Mbps, headers and all.
double corrected(const sim::Cluster& cluster, ExchangeKind kind, double share, double delay_s = 0) {
  const results::StepConstants usual = results::usual_constants();
  const bool ring = kind != ExchangeKind::kParameterServer;
  StepSummary step;
  step.workers = 2;
  step.exchange = kind;
  step.buckets = {
      {.message_bytes = share * 1e6 * usual[0] / (ring ? 1 + results::kAcknowledgements : 1)}};
  take_paths(cluster, {}, step);
  step.delay_s = delay_s;
  correct_for_traces(cluster, {}, step);
  return results::exchange_time(step, step.message_bytes(), usual);
}

}  // namespace

TEST_CASE("Where links follow no schedule nothing is corrected") {
  StepSummary step;
  step.workers = 2;
  step.exchange = ExchangeKind::kRingAllGather;
  step.buckets = {{.message_bytes = 1e6}};
  correct_for_traces(two_workers({}, {}), {}, step);
  CHECK(step.correction.value.empty());
}

TEST_CASE("Links that rest together cost the share of time that they rest") {
  // A quarter of a second each: four exchanges in the second that carries, none in the next; the
  // fourth is not quite through when they rest, and its last segments are sent again behind it.
  const auto together = two_workers(on_off(true), on_off(true));
  CHECK(corrected(together, ExchangeKind::kRingAllGather, 0.25) == Approx(0.5).epsilon(0.06));
}

TEST_CASE("A ring waits for links that rest by turns; their mean rates do not tell") {
  // Worker 0 sends in [0, 1), worker 1 in [1, 2), ...: as fluids, both have sent at 1.25; from
  // there worker 1 by 1.5 and worker 0 by 2.25; and so on: one exchange a second. But an
  // acknowledgement comes by the other's link, and so a second late, timers double up to a minute,
  // and a window of one segment opens anew after each: ns-3 3.44 takes 1,055 s for four exchanges
  // of a quarter.
  const auto by_turns = two_workers(on_off(true), on_off(false));
  CHECK(corrected(by_turns, ExchangeKind::kRingAllGather, 0.25) == Approx(315).epsilon(0.05));
}

TEST_CASE("A server waits for the last to push, then for the last to pull") {
  // Pushes by turns: 1.25 s; pulls at 8 Mbps all the time: .25 s. From 1.5: worker 0 pushes by
  // 2.25, pull by 2.5; from there worker 1 by 3.25: one exchange a second from then on.
  const auto by_turns = two_workers(on_off(true), on_off(false), 1);
  CHECK(corrected(by_turns, ExchangeKind::kParameterServer, 0.25) == Approx(1).epsilon(0.02));
}
