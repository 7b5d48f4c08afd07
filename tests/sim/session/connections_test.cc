// Several connections from host to host: which one a transfer takes, and what it shares there.
#include <catch2/catch.hpp>

#include "sim/session/parallel_connections.h"
#include "tests/sim/graphs.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

/// Writes down on which connection each transfer was started; delivers what it is told to.
class Recorder final : public Network {
 public:
  explicit Recorder(std::vector<int>& connections) : connections_(connections) {}
  void start(TransferId, int, int, Bytes) override { connections_.push_back(0); }
  void start_beside(TransferId, int beside, int, int, Bytes) override {
    connections_.push_back(beside);
  }
  void cancel(TransferId) override {}
  void advance(Seconds, std::vector<Delivery>& delivered) override {
    delivered.push_back({connections_.empty() ? 0 : TransferId{1}, Seconds(0), Bytes(0), 0, false});
  }
  Seconds now() const override { return Seconds(0); }

 private:
  std::vector<int>& connections_;
};

/// Ends of three transfers from host 0 to host 1 of 2.5, 0.625 and 0.625 MB that start at once.
std::vector<double> ends(int connections) {
  ExecutorOptions options;
  options.transport.protocol = TransportSettings::Protocol::kIdeal;
  options.transport.connections = connections;
  GraphBuilder builder;
  for (int i = 0; i < 3; ++i) builder.add_transfer(0, 1, "transfer", {}, {});
  const auto executor = make_executor("flow", Cluster::star(2, link(1e8, 1e-3)), options);
  const Timeline t = run(*executor, Step(builder.finish(), {2'500'000, 625'000, 625'000}));
  return {t.ops[0].end.value(), t.ops[1].end.value(), t.ops[2].end.value()};
}

}  // namespace

TEST_CASE("a transfer takes the connection with the fewest bytes under way, of several the first") {
  std::vector<int> taken;
  ParallelConnections network(std::make_unique<Recorder>(taken), 3);
  network.start(1, 0, 1, Bytes(100));  // 100, 0, 0
  network.start(2, 0, 1, Bytes(50));   // 100, 50, 0
  network.start(3, 0, 1, Bytes(80));   // 100, 50, 80
  network.start(4, 0, 1, Bytes(60));   // 100, 110, 80
  network.start(5, 1, 0, Bytes(10));   // the way back is another pair
  CHECK(taken == std::vector<int>{0, 1, 2, 1, 0});
  std::vector<Delivery> delivered;
  network.advance(Seconds(1), delivered);  // transfer 1: 0, 110, 80
  network.start(6, 0, 1, Bytes(90));       // 90, 110, 80
  network.cancel(4);                       // 90, 50, 80
  network.start(7, 0, 1, Bytes(1));
  network.start_beside(8, 1, 0, 1, Bytes(1));  // another's, beside all three
  CHECK(taken == std::vector<int>{0, 1, 2, 1, 0, 0, 1, 3});
}

TEST_CASE("transfers of one pair share the link on two connections and wait on one") {
  // 12.5 MB/s, 2 ms. On two connections the small ones follow one another beside the large one, at
  // 6.25 MB/s: 0.1 and 0.2 s; of the large one 1.25 MB are left then, at 12.5 MB/s: 0.3 s.
  const std::vector<double> two = ends(2);
  CHECK(two[0] == Approx(0.302));
  CHECK(two[1] == Approx(0.102));
  CHECK(two[2] == Approx(0.202));
  // On three, each a third until both small ones end at 3 x 0.625 / 12.5 = 0.15 s.
  const std::vector<double> three = ends(3);
  CHECK(three[0] == Approx(0.302));
  CHECK(three[1] == Approx(0.152));
  CHECK(three[2] == Approx(0.152));
  // On one, one after another: 0.2, 0.25 and 0.3 s.
  const std::vector<double> one = ends(1);
  CHECK(one[0] == Approx(0.202));
  CHECK(one[1] == Approx(0.252));
  CHECK(one[2] == Approx(0.302));
}
