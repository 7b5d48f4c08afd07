#include "results/prediction/step_model.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "results/prediction/solve.h"
#include "tests/results/prediction/step_cases.h"

using namespace gradwire::results;

namespace {

/// Waiting for losses costs nothing, and as many time out as the form expects.
StepConstants timeouts_alone() {
  StepConstants constants = plain_constants();
  constants[static_cast<std::size_t>(StepConstant::kStraggle)] = 0;
  constants[static_cast<std::size_t>(StepConstant::kTimeouts)] = 1;
  return constants;
}

}  // namespace

TEST_CASE("A ring's exchange by hand") {
  // 4 workers, 100 MB at 125 MB/s: 6 hops of (100 us + 25 MB / 125 MB/s = 0.2 s) = 1.2006 s.
  CHECK(exchange_time(ring_step(4), 1e8, plain_constants()) == Approx(1.2006).epsilon(1e-9));
  CHECK(exchange_time(ring_step(1), 1e8, plain_constants()) == 0);
}

TEST_CASE("Links that carry messages both ways carry each other's acknowledgements") {
  // A tree of 2: 2 hops of 0.8 s one way; a ring of 2: 2 hops of 0.4 s both ways, 2.9 % longer.
  StepConstants constants = plain_constants();
  constants[0] = 1;
  StepSummary step = ring_step(2);
  CHECK(exchange_time(step, 1e8, constants) ==
        Approx(2 * (1e-4 + 0.4 * (1 + kAcknowledgements))).epsilon(1e-9));
  step.exchange = ExchangeKind::kTreeAllReduce;
  CHECK(exchange_time(step, 1e8, constants) == Approx(2 * (1e-4 + 0.8)).epsilon(1e-9));
}

TEST_CASE("A message shorter than a segment is forwarded sooner") {
  // 2 workers, a hop of 679 B and 90 of headers: half a segment, half of 40 us.
  StepSummary step = ring_step(2);
  step.forwarding_s = 40e-6;
  CHECK(exchange_time(step, 2 * 679, plain_constants()) ==
        Approx(2 * (80e-6 + 679 / 125e6)).epsilon(1e-6));
}

TEST_CASE("Constants outside the model's domain give no finite time, and a fit refuses them") {
  // A search may try them: a line rate of nothing, a latency beyond all numbers.
  const StepSummary step = ring_step(4);
  for (const double efficiency : {0.0, std::nan("")}) {
    StepConstants constants = plain_constants();
    constants[static_cast<std::size_t>(StepConstant::kEfficiency)] = efficiency;
    CHECK_FALSE(std::isfinite(step_time(step, constants).total_s));
  }
  StepConstants constants = plain_constants();
  constants[static_cast<std::size_t>(StepConstant::kLatency)] = HUGE_VAL;
  CHECK_FALSE(std::isfinite(step_time(step, constants).total_s));
  CHECK(std::isfinite(step_time(step, plain_constants()).total_s));
}

TEST_CASE("A worker codes one thing at a time, and a sum is made on the way") {
  // Two buckets of an all-gather among 2, ready at .1 and .2, sent at once; encode .03, decode 2 x
  // .05. Lane: encode to .13, decode .13-.23, encode .23-.26, decode to .36.
  StepSummary step = ring_step(2, 0);
  step.exchange = ExchangeKind::kRingAllGather;
  step.delay_s = 0;
  step.buckets.assign(2, {.backward_s = 0.1, .encode_s = 0.03, .decode_s = 0.05});
  CHECK(step_time(step, plain_constants()).total_s == Approx(0.36));
  // By a server that adds 2 messages in .04 each before it answers. First: coded .13, added .21,
  // decoded behind the second's encoding, .28. Second: coded .23, added .31, decoded .36.
  step.exchange = ExchangeKind::kParameterServer;
  step.buckets.assign(2, {.backward_s = 0.1, .encode_s = 0.03, .decode_s = 0.05, .add_s = 0.04});
  const StepTime time = step_time(step, plain_constants());
  CHECK(time.total_s == Approx(0.36));
  // Behind the pass, from .2 on: encoding to .23, decoding .23-.28 and .31-.36. Between these the
  // exchange alone is under way, as a run's timeline has it; not from .23 to .31.
  CHECK(time.encode_s == Approx(0.03));
  CHECK(time.decode_s == Approx(0.1));
  CHECK(time.exposed_s == Approx(0.03));
}

TEST_CASE("Buckets overlap with the backward pass, the last one is exposed") {
  // Forward .1; two buckets: backward .3 each, exchange of 2 workers: 2 hops of half: 12.5 MB each
  // bucket of 25 MB -> 2 (1e-4 + .1) = .2002. First: ready .4, sent .6002; second: ready .7, sent
  // .9002. Update .01: T = .9102; exposed .2002.
  StepSummary step = ring_step(2);
  step.forward_s = 0.1;
  step.update_s = 0.01;
  step.buckets = {{.backward_s = 0.3, .message_bytes = 25e6},
                  {.backward_s = 0.3, .message_bytes = 25e6}};
  StepTime time = step_time(step, plain_constants());
  CHECK(time.total_s == Approx(0.9102));
  CHECK(time.exposed_s == Approx(0.2002));
  CHECK(time.compute_s == Approx(0.71));
  // Without overlap both follow the backward pass: .7 + .4004 + .01.
  step.overlap = false;
  time = step_time(step, plain_constants());
  CHECK(time.total_s == Approx(1.1104));
  CHECK(time.exchange_s == Approx(0.4004));
}

TEST_CASE("A known straggler computes, codes and updates slowly, a server's additions do not") {
  // Forward .1, backward .1, encoded .03, added at the server .04, decoded .05, update .01: .33.
  StepSummary step = ring_step(2, 0);
  step.exchange = ExchangeKind::kParameterServer;
  step.delay_s = 0;
  step.forward_s = 0.1;
  step.update_s = 0.01;
  step.buckets = {{.backward_s = 0.1, .encode_s = 0.03, .decode_s = 0.05, .add_s = 0.02}};
  const StepTime alike = step_time(step, plain_constants());
  step.slowest = 3;
  const StepTime time = step_time(step, plain_constants());
  CHECK(time.total_s - alike.total_s == Approx(2 * (0.1 + 0.1 + 0.03 + 0.05 + 0.01)));
  CHECK(time.encode_s == Approx(0.09));
  CHECK(time.decode_s == Approx(0.15));
  // What one worker takes alone is no straggler's time.
  CHECK(efficiency(plain_fit(), step) == Approx(0.21 / time.total_s));
}

TEST_CASE("The parts of a step add up to it") {
  for (const bool overlap : {true, false})
    for (const ExchangeKind kind : {ExchangeKind::kRingAllReduce, ExchangeKind::kRingAllGather,
                                    ExchangeKind::kParameterServer}) {
      StepSummary step = ring_step(8);
      step.exchange = kind;
      step.overlap = overlap;
      step.forward_s = 0.02;
      step.update_s = 0.003;
      step.compute_spread = 0.1;
      step.buckets.assign(5, {0.01, 0.002, 0.001, 0.0005, 1e6});
      const StepTime time = step_time(step, usual_constants());
      CHECK(time.compute_s + time.encode_s + time.exposed_s + time.decode_s ==
            Approx(time.total_s));
      CHECK(time.encode_s >= 0);
      CHECK(time.exposed_s >= 0);
      CHECK(time.decode_s >= -1e-15);
    }
}

TEST_CASE("An all-gather decodes every worker's message") {
  StepSummary step = ring_step(8, 0);
  step.exchange = ExchangeKind::kRingAllGather;
  step.delay_s = 0;
  step.buckets[0].decode_s = 0.01;
  CHECK(step_time(step, plain_constants()).total_s == Approx(0.08));
  step.exchange = ExchangeKind::kRingAllReduce;
  CHECK(step_time(step, plain_constants()).total_s == Approx(0.01));
}

TEST_CASE("Loss slows a hop down, and more of it more") {
  double before = exchange_time(ring_step(8), 1e8, usual_constants());
  for (const double loss : {1e-4, 1e-3, 1e-2, 5e-2}) {
    StepSummary step = ring_step(8);
    step.loss = loss;
    const double time = exchange_time(step, 1e8, usual_constants());
    CHECK(time > before);
    before = time;
  }
}

TEST_CASE("Rare timeouts, by hand") {
  // Messages of one segment, no other constant than timeouts: a loss of p = 1e-4 is seldom repaired
  // by what follows. Two workers gather in one hop: E = 2 p = 2e-4, .2 s each; moving and waiting
  // for losses are below .1 us.
  StepConstants constants = timeouts_alone();
  StepSummary step = ring_step(2);
  step.bandwidth = 1e12;
  step.delay_s = 0;
  step.loss = 1e-4;
  step.exchange = ExchangeKind::kDirectAllGather;
  const double direct = exchange_time(step, 1448, constants);
  CHECK(direct == Approx(0.2 * 2e-4).epsilon(0.02));
  // A ring's 7 hops among 8 follow one another on the same connections: only the last segments'
  // losses time out, 3 x 8 of them, and what is lost twice.
  step.exchange = ExchangeKind::kRingAllGather;
  step.workers = 8;
  step.forward_s = 1;
  CHECK(exchange_time(step, 1448, constants) == Approx(0.2 * 24e-4).epsilon(0.02));
  // After .05 s the next step's messages come, and with them what tells of the loss.
  step.forward_s = 0.05;
  CHECK(exchange_time(step, 1448, constants) == Approx(0.05 * 24e-4).epsilon(0.02));
  // Each hop's losses timing out would be 7 x 8 of them, at most.
  step.exchange = ExchangeKind::kTreeAllReduce;
  CHECK(exchange_time(step, 1448, constants) > 0.2 * 40e-4);
}

TEST_CASE("A ring's timeouts: as long as the transport's, and an acknowledgement's delay more") {
  // Messages of one segment among 8, p = .01: lost twice 1e-4 a hop; few = 8e-4, many = 98e-4,
  // E = 1 / hypot(1 / few, 1 / many) = 7.97e-4. 7 hops of .2 s more: 1.116 ms.
  StepConstants constants = timeouts_alone();
  constants[static_cast<std::size_t>(StepConstant::kWindows)] = 0;
  StepSummary step = ring_step(8);
  step.bandwidth = 1e12;
  step.delay_s = 1e-3;
  step.loss = 0.01;
  step.exchange = ExchangeKind::kRingAllGather;
  step.delayed_ack_s = 0;
  const double plain = exchange_time(step, 1448, constants);
  step.timeout_s = 0.4;
  CHECK(exchange_time(step, 1448, constants) - plain == Approx(1.116e-3).epsilon(0.01));
  // All 7 others wait for whom times out: 1 - exp(-7 p) = .0676 of the times one has lost its last
  // segment, and 40 ms go by: 7 x 7.97e-4 x .04 x .0676 = 15.1 us.
  step.timeout_s = 0.2;
  step.delayed_ack_s = 0.04;
  CHECK(exchange_time(step, 1448, constants) - plain == Approx(15.1e-6).epsilon(0.01));
  // Hops of .1 s: two others wait when the timeout is over.
  step.delay_s = 0.1;
  const double delayed = exchange_time(step, 1448, constants);
  step.delayed_ack_s = 0;
  CHECK(delayed - exchange_time(step, 1448, constants) ==
        Approx(7 * 7.97e-4 * 0.04 * (1 - std::exp(-0.02))).epsilon(0.01));
}

TEST_CASE("A server waits for the unluckiest worker") {
  // Messages of one segment, of which p = .01 time out: with 100 workers a hop waits .2 s unless
  // all are lucky, 1 - .99^100 = .634 of the time, and twice as long if one is lost again, which
  // the sum over k >= 1 has: the mean of the largest of 100 Poisson numbers of mean x = p + p^2:
  // (1 - exp(-1.01)) + (1 - (exp(-x) (1 + x))^100) = .6358 + .0051.
  StepConstants constants = timeouts_alone();
  StepSummary step = ring_step(100);
  step.bandwidth = 1e12;
  step.delay_s = 0;
  step.loss = 0.01;
  step.exchange = ExchangeKind::kParameterServer;
  CHECK(exchange_time(step, 1448, constants) == Approx(2 * 0.2 * 0.6409).epsilon(0.01));
  // While one waits the others use the server's link: where that decides, waiting is hidden.
  step.server_bandwidth = 1448 * 100 / 10.0;
  CHECK(exchange_time(step, 1448, constants) == Approx(2 * 10).epsilon(0.03));
}

TEST_CASE("A correction for slow links leaves none of them to the constants") {
  StepSummary step = ring_step(64);
  step.rate_spread = 0.5;
  StepConstants constants = plain_constants();
  const double usual = exchange_time(step, 1e8, constants);
  constants[static_cast<std::size_t>(StepConstant::kRates)] *= 2;
  CHECK(exchange_time(step, 1e8, constants) > 1.2 * usual);
  step.correction.add(1e8, 1);
  CHECK(exchange_time(step, 1e8, constants) == Approx(usual));
}

TEST_CASE("Windows limit long messages under loss: Mathis's rate") {
  // r = 1: 1e4 segments, p = 1e-2, R = 20 ms: l is nearly 1e4 x .1 / 1.22 x .02 = 16.39 s.
  StepConstants constants = plain_constants();
  constants[static_cast<std::size_t>(StepConstant::kWindows)] = 1;
  constants[static_cast<std::size_t>(StepConstant::kStraggle)] = 0;
  constants[static_cast<std::size_t>(StepConstant::kTimeouts)] = 0;
  StepSummary step = ring_step(2);
  step.bandwidth = 1e12;
  step.delay_s = 0.01;
  step.loss = 1e-2;
  step.exchange = ExchangeKind::kDirectAllGather;
  CHECK(exchange_time(step, 1448e4, constants) == Approx(16.39 + 0.01).epsilon(0.01));
}

TEST_CASE("TernGrad's tree grows with log2 n, its plateau stops at four workers") {
  StepConstants constants = plain_constants();
  constants[0] = 1;  // their bytes go one way
  const auto of = [&](auto model, int n) { return model(ring_step(n, 1e8), constants); };
  // 0.8 s a message, 100 us a doubling: tree at 16: 4 x .8001; plateau: 4e-4 + 1.6.
  CHECK(of(terngrad_tree_time, 16) == Approx(3.2004));
  CHECK(of(terngrad_plateau_time, 16) == Approx(1.6004));
  CHECK(of(terngrad_plateau_time, 1024) == Approx(1.601));
}

TEST_CASE("The slowest of many workers decides") {
  StepSummary step = ring_step(16, 0);
  step.delay_s = 0;
  step.forward_s = 1;
  step.compute_spread = 0.1;
  // 1 + .1 sqrt(2 ln 16) = 1.2355.
  CHECK(step_time(step, plain_constants()).total_s ==
        Approx(1 + 0.1 * std::sqrt(2 * std::log(16))));
}
