// A stream that is paced, over one path: 1 Gbps, 10 ms each way, no second hop.
#include <catch2/catch.hpp>
#include <vector>

#include "tests/sim/streams.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;
using Control = TransportSettings::CongestionControl;

namespace {

constexpr double kWay = 10e-3;
constexpr double kSegment = 1538 * 8 / 1e9;  // s: what it keeps the link busy
constexpr double kFrame = 1502 * 8 / 1e9;    // s: until it is there
constexpr double kAck = 54 * 8 / 1e9;

LoneStream stream(Control control, std::vector<std::uint64_t> lost = {}) {
  TransportSettings transport;
  transport.congestion_control = control;
  return stream_over(1e9, kWay, transport, std::move(lost));
}

ExecutorOptions with(Control control) {
  ExecutorOptions options;
  options.transport.congestion_control = control;
  return options;
}

}  // namespace

TEST_CASE("BBR's first window goes out at once") {
  LoneStream tcp = stream(Control::kBbr);
  CHECK(send(tcp, 10) == Approx(9 * kSegment + kFrame + kWay).epsilon(1e-12));
}

TEST_CASE("BBR paces what follows the first window") {
  // The first acknowledgement comes a round trip after the start, and lets segment 10 go; segment
  // 11 waits for 1,448 B at 2.89 windows in the handshake's 20 ms.
  const double first_ack = kFrame + kWay + kAck + kWay;
  const double wait = 1448 / (2.89 * 14480 / 20e-3);
  LoneStream tcp = stream(Control::kBbr);
  CHECK(send(tcp, 12) == Approx(first_ack + wait + kFrame + kWay).epsilon(1e-9));
  CHECK(wait > 0.6e-3);
  // Reno's window lets both go with the first two acknowledgements, 25 us apart.
  LoneStream reno = stream(Control::kReno);
  CHECK(send(reno, 12) < first_ack + wait / 2 + kFrame + kWay);
}

TEST_CASE("BBR: every segment is dropped, lost, arrived or a duplicate") {
  LoneStream tcp = stream(Control::kBbr, {3, 12, 13, 40, 41, 60, 61, 62, 100, 130});
  send(tcp, 300);
  drain(tcp);
  CHECK(tcp.segments() == 300);
  CHECK(tcp.lost() == 10);
  CHECK(tcp.copies() >= 10);
  CHECK(tcp.conserves());
  CHECK(tcp.tcp().receiver().next() == tcp.segments());
  CHECK(tcp.idle());
}

TEST_CASE("BBR fills a long path and keeps a local one empty, as in ns-3") {
  const auto time = [](Control control, double rate, double way, std::int64_t bytes) {
    const Cluster cluster = Cluster::star(2, link(rate, way / 2));
    const auto executor = make("flow", cluster, with(control));
    return run(*executor, transfers({{0, 1, bytes}})).end.value();
  };
  // 50 MB over 100 Mbps and 40 ms take 4.25 s of the link's time.
  CHECK(time(Control::kBbr, 1e8, 20e-3, 50'000'000) == Approx(4.25).epsilon(0.06));
  // 10 MB over 1 Gbps and 0.2 ms: ns-3 3.44 takes 0.384 s, CUBIC's time is the link's, 0.085 s.
  CHECK(time(Control::kBbr, 1e9, 0.1e-3, 10'000'000) == Approx(0.384).epsilon(0.01));
  CHECK(time(Control::kCubic, 1e9, 0.1e-3, 10'000'000) == Approx(0.085).epsilon(0.01));
}

TEST_CASE("BBR hardly feels random loss that halves CUBIC's rate") {
  const Cluster cluster = Cluster::star(2, link(5e7, 10e-3, 0.005));
  const auto time = [&](Control control) {
    return run(*make("flow", cluster, with(control)), transfers({{0, 1, 8'000'000}})).end.value();
  };
  CHECK(time(Control::kBbr) < 2.5);  // the link's time is 1.36 s
  CHECK(time(Control::kCubic) > 2 * time(Control::kBbr));
}

TEST_CASE("BBR takes ns-3's times where an instant decides") {
  // `packet`'s figures (ns-3 3.44), transfers of one connection one after the other.
  const auto times = [](double rate, double round_trip, std::int64_t bytes, int count) {
    const Cluster cluster = Cluster::star(2, link(rate, round_trip / 4));
    const auto executor = make("flow", cluster, with(Control::kBbr));
    std::vector<double> result;
    for (int i = 0; i < count; ++i) {
      const double start = executor->now().value();
      result.push_back(run(*executor, transfers({{0, 1, bytes}})).end.value() - start);
    }
    return result;
  };
  // An acknowledgement comes when the pacing timer goes off, again and again.
  const auto local = times(2.46e9, 1.25e-3, 65'800, 2);
  CHECK(local[0] == Approx(0.003723).epsilon(1e-3));
  CHECK(local[1] == Approx(0.001914).epsilon(1e-3));
  // Start-up's queue stands until CoDel drops; which segment, decides how the next one begins.
  const auto far = times(77.8e6, 76.7e-3, 2'620'000, 3);
  CHECK(far[0] == Approx(0.779434).epsilon(2e-4));
  CHECK(far[1] == Approx(0.428908).epsilon(1e-4));
  CHECK(far[2] == Approx(0.358917).epsilon(1e-4));
}
