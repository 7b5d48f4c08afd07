// Collectives as NCCL runs them, through both executors that know RDMA; worked by hand.
#include "sim/session/collective_pace.h"

#include <catch2/catch.hpp>
#include <limits>

#include "sim/cluster/topologies/topologies.h"
#include "tests/sim/graphs.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

ExecutorOptions over_rdma() {
  ExecutorOptions options;
  options.transport.protocol = TransportSettings::Protocol::kRdma;
  options.transport.segment = kRdmaSegment;
  options.transport.wire_segment = kRdmaWireSegment;
  return options;
}

/// All hosts are GPUs of one node.
ExecutorOptions on_node(const char* gpu) {
  ExecutorOptions options = over_rdma();
  NcclSettings& nccl = options.transport.library.emplace();
  nccl.start = Seconds(30e-6);
  nccl.gpu = nccl_gpu(gpu);
  nccl.gpus_per_node = std::numeric_limits<int>::max();
  return options;
}

double micros(const char* executor, const Cluster& cluster, const ExecutorOptions& options,
              const Step& step) {
  return 1e6 * run(*make(executor, cluster, options), step).end.value();
}

/// NVLink 2: 150 GB/s each way.
Cluster dgx1(int gpus) {
  return Cluster::star(gpus, link(1200e9, 0.5e-6));
}

constexpr std::int64_t kGibibyte = std::int64_t{1} << 28;  // elements of 4 B

}  // namespace

TEST_CASE("a ring in a node has the start, the latencies and the bandwidth of NCCL's") {
  for (const char* executor : {"model", "flow"}) {
    CAPTURE(executor);
    // Simple: 30 + 8.4 + 14 x 3.4 us, and 1.75 GiB at 6 rings of 22.5 GB/s: 13,919.0 us.
    CHECK(micros(executor, dgx1(8), on_node("v100"), ring(8, kGibibyte)) ==
          Approx(86.0 + 13'919.0).epsilon(1e-3));
    // Two GPUs of a DGX-1 share one ring: 1 GiB at 22.5 GB/s, 47,721.9 us; the links alone, 82 B of
    // headers with each 4,096 B, would take 7,301.8 us.
    CHECK(micros(executor, dgx1(2), on_node("v100"), ring(2, kGibibyte)) ==
          Approx(30 + 8.4 + 2 * 3.4 + 47'721.9).epsilon(1e-3));
    CHECK(micros(executor, dgx1(2), over_rdma(), ring(2, kGibibyte)) ==
          Approx(7'301.8 + 2).epsilon(1e-2));
    // LL for 32 KiB: 30 + 6.6 us; a hop's 0.6 us are the links' own microsecond here; 1.75 x 32 KiB
    // at 39 GB/s, the most that LL reaches.
    CHECK(micros(executor, dgx1(8), on_node("v100"), ring(8, 8192)) ==
          Approx(30 + 6.6 + 14 * 1.0 + 1.47).epsilon(1e-2));
  }
}

TEST_CASE("what a library sends is told from what its links are busy with") {
  const auto wire = [](const char* executor, std::int64_t elements) {
    const auto runs = make(executor, dgx1(2), on_node("v100"));
    return static_cast<double>(run(*runs, ring(2, elements)).ops[0].wire.count());
  };
  for (const char* executor : {"model", "flow"}) {
    CAPTURE(executor);
    // 2 ranks send each 1 GiB of payload, 82 B with each 4,096 B; LL sends 4 B of flags with 4 B.
    CHECK(wire(executor, kGibibyte) == Approx(2 * 4.0 * kGibibyte * 4178 / 4096).epsilon(1e-6));
    CHECK(wire(executor, 8192) == Approx(2 * 2 * 32768.0 * 4178 / 4096).epsilon(1e-6));
  }
}

TEST_CASE("collectives at the same time share the rings of one") {
  GraphBuilder builder;
  for (int i = 0; i < 2; ++i)
    builder.add_collective(ring_spec(CollectiveKind::kRingAllReduce, 2, kGibibyte), "all-reduce");
  const Step both(builder.finish(), {});
  CHECK(micros("flow", dgx1(2), on_node("v100"), both) == Approx(2 * 47'721.9).epsilon(5e-3));
}

TEST_CASE("between nodes NCCL takes trees for small messages, and all adapters") {
  // 8 machines of 8 A100s with 4 adapters of 100 Gbps each.
  GpuNodesPlan plan;
  plan.workers = 64;
  plan.per_node = 8;
  plan.adapters = 4;
  plan.intra_link = link(2400e9, 0.5e-6);
  plan.link = link(100e9, 0.5e-6);
  const Cluster cluster = gpu_nodes(plan);
  ExecutorOptions options = on_node("a100");
  options.transport.library->gpus_per_node = 8;
  options.transport.library->adapters = 4;
  // Headers leave 4096 / 4178 of 50 GB/s: 49.02 GB/s. LL's tree: 6.8 + 2 (7 x 0.6 x 1.8 + 3 x 5) =
  // 51.92 us, and 2 x 4 KiB at 0.92 / 3.8 of it; a ring's LL has 126 steps.
  const auto pace =
      pace_of(cluster, options.transport, ring_spec(CollectiveKind::kRingAllReduce, 64, 1024), {});
  REQUIRE(pace);
  CHECK(pace->sent == 2);
  CHECK(pace->start == Approx(30e-6 + 6.8e-6));
  for (const char* executor : {"model", "flow"}) {
    CAPTURE(executor);
    // 1 GiB: a tree of Simple, 2 GiB at 0.92 x 49.02 GB/s, 47,620 us, and 8.4 + 2 (7 x 4 + 3 x 14)
    // us; a ring, 1.97 GiB at 49.02 GB/s, 43,124 us, and 1.4 (8.4 + 112 x 3.4 + 14 x 14) us.
    CHECK(micros(executor, cluster, options, ring(64, kGibibyte)) ==
          Approx(43'124 + 819 + 30).epsilon(1e-2));
  }
}
