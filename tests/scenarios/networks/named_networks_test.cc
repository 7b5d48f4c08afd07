#include "scenarios/networks/named_networks.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "scenarios/scenario.h"

namespace gradwire::scenarios {
namespace {

using Catch::Contains;

const char* const kText = R"({"schema_version": 1, "name": "named",
  "workload": {"collective": "ring-all-reduce", "bytes": "1MB", "repetitions": 1},
  "cluster": {"workers": 4}, "network": {"link": {"bandwidth": "1Mbps"}}, "executor": "flow"})";

Scenario on(const char* network, Overrides more = {}) {
  Overrides overrides = overrides_of_network(network);
  for (Override& one : more) overrides.push_back(std::move(one));
  return read_scenario_text(kText, "named.json", overrides).runs.at(0);
}

TEST_CASE("a network by name is its links' rate and delay, and what they speak", "[unit]") {
  const Scenario lan = on("10gbe");
  CHECK(lan.network.link.rate.value() == 10e9);
  CHECK(lan.network.link.delay.value() == Approx(10e-6));
  CHECK(lan.network.transport.protocol == sim::TransportSettings::Protocol::kTcp);
  CHECK(lan.network.transport.segment == Bytes(1448));
  const Scenario fabric = on("ib-hdr");
  CHECK(fabric.network.link.rate.value() == 200e9);
  CHECK(fabric.network.transport.protocol == sim::TransportSettings::Protocol::kRdma);
  CHECK(fabric.network.transport.segment == sim::kRdmaSegment);
  CHECK(fabric.network.transport.wire_segment == sim::kRdmaWireSegment);
  for (const NamedNetwork& each : named_networks()) CHECK_NOTHROW(on(each.name.data()));
  CHECK_THROWS_WITH(on("10gb"), Contains("did you mean \"10gbe\"?") && Contains("ib-ndr"));
}

TEST_CASE("collectives over RDMA by name are NCCL's", "[unit]") {
  CHECK_FALSE(on("10gbe").network.transport.library);
  // Machines with one GPU each, but for the GPUs of a node.
  const auto fabric = on("ib-hdr").network.transport.library;
  REQUIRE(fabric);
  CHECK(fabric->gpu == nullptr);
  CHECK(fabric->gpus_per_node == 1);
  CHECK(fabric->start.value() == Approx(25e-6));
  const auto node =
      on("nvlink-b200", {{"/network/library/start", "40us"}, {"/network/library/latency", "1.5"}})
          .network.transport.library;
  REQUIRE(node);
  CHECK(node->gpu == sim::nccl_gpu("b200"));
  CHECK(node->gpus_per_node >= 4);
  CHECK(node->start.value() == Approx(40e-6));
  CHECK(node->latency == 1.5);
  const auto nodes = on("ib-hdr", {{"/network/topology", "gpu-nodes"},
                                   {"/network/gpus_per_node", "2"},
                                   {"/network/adapters", "2"},
                                   {"/network/library/gpu", "a100"}})
                         .network.transport.library;
  REQUIRE(nodes);
  CHECK(nodes->gpus_per_node == 2);
  CHECK(nodes->adapters == 2);
  CHECK_FALSE(on("nvlink-v100", {{"/network/library/name", "none"}}).network.transport.library);
  CHECK_THROWS_WITH(on("nvlink-v100", {{"/network/library/gpu", "v10"}}), Contains("v100"));
  CHECK_THROWS_WITH(on("nvlink-v100", {{"/network/transport/protocol", "tcp"}}),
                    Contains("NVLink, InfiniBand and RoCE"));
}

TEST_CASE("a node's network is that of its GPUs", "[unit]") {
  const auto gpu_and_rate = [](const char* device) {
    const Overrides overrides = overrides_of_network("nvlink-node", device);
    return overrides.front().text + " " + overrides.back().text;
  };
  CHECK(gpu_and_rate("b200") == "7200Gbps b200");
  CHECK(gpu_and_rate("a100-80gb") == "2400Gbps a100-80gb");
  CHECK(gpu_and_rate("h200") == "3600Gbps h200");
  for (const char* other : {"", "cpu", "v100-pcie"})
    CHECK_THROWS_WITH(overrides_of_network("nvlink-node", other), Contains("nvlink-v100"));
}

TEST_CASE("RDMA is refused where it is not what it is", "[unit]") {
  CHECK_THROWS_WITH(on("ib-hdr", {{"/network/link/loss", "0.01"}}), Contains("without loss"));
  CHECK_THROWS_WITH(on("ib-hdr", {{"/executor", "packet"}}), Contains("no model of RDMA"));
  CHECK_NOTHROW(on("ib-hdr", {{"/executor", "model"}}));
  CHECK_NOTHROW(on("10gbe", {{"/network/link/loss", "0.01"}}));
  // Packets of another size are the scenario's.
  const Scenario own = on("ib-hdr", {{"/network/transport/segment", "1024B"}});
  CHECK(own.network.transport.segment == Bytes(1024));
}

}  // namespace
}  // namespace gradwire::scenarios
