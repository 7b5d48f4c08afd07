#include <catch2/catch.hpp>

#include "emulator/hosts/host_view.h"

namespace gradwire::emulator {
namespace {

using sim::CollectiveKind;
using sim::Lane;
using sim::OpKind;
using Hosts = std::vector<std::int32_t>;

TEST_CASE("a parameter server's step: who sees what, who must be told", "[unit]") {
  // Workers 0 and 1, server 2: compute (0, 1), push (2), sum on the server (3), pull (4), update of
  // worker 0 (5), a note that host 1 writes when the server's pull is over (6).
  sim::GraphBuilder builder;
  const auto c0 = builder.add_operation(OpKind::kCompute, Lane::kCompute, 0, "c0");
  const auto c1 = builder.add_operation(OpKind::kCompute, Lane::kCompute, 1, "c1");
  sim::CollectiveSpec spec;
  spec.kind = CollectiveKind::kPush;
  spec.members = {0, 1};
  spec.server = 2;
  const auto push = builder.add_collective(spec, "push", std::vector{c0, c1});
  const auto sum =
      builder.add_operation(OpKind::kAggregate, Lane::kCodec, 2, "sum", std::vector{push});
  spec.kind = CollectiveKind::kPull;
  const auto pull = builder.add_collective(spec, "pull", std::vector{sum});
  builder.add_operation(OpKind::kCompute, Lane::kCompute, 0, "update", std::vector{pull});
  const auto next =
      builder.add_operation(OpKind::kCompute, Lane::kHost, 2, "next", std::vector{pull});
  const HostView view(builder.finish());
  const auto source = [&](OpIndex op, std::uint32_t rank) {
    return view.index.source_begin[op] + rank;
  };
  CHECK(view.observer(source(c1, 0)) == 1);
  CHECK(view.observer(source(push, 0)) == 2);  // arrival at the server ends worker 0's push
  CHECK(view.observer(source(push, 2)) == 2);
  CHECK(view.observer(source(push, 3)) == -1);
  CHECK(view.parts(source(push, 3)).size() == 3);
  CHECK(view.observer(source(pull, 1)) == 1);
  CHECK(view.observer(source(pull, 2)) == -1);  // the server is done when both have it
  CHECK(view.parts(source(pull, 2)).size() == 2);
  CHECK(view.gate_owner(view.index.gate_begin[next]) == 2);
  // Worker 1's receipt matters to the server (next), worker 0's to itself (update) and the server.
  CHECK(view.listeners(source(pull, 1)) == Hosts{2});
  CHECK(view.listeners(source(pull, 0)) == Hosts{0, 2});
  CHECK(view.listeners(source(c0, 0)) == Hosts{0});
  CHECK(role_of(view, push, 1) == Role::kSender);
  CHECK(role_of(view, push, 2) == Role::kReceiver);
  CHECK(role_of(view, pull, 2) == Role::kSender);
  CHECK(role_of(view, sum, 2) == Role::kNone);
  CHECK(destinations(view, 2) == Hosts{0, 1});
  CHECK(destinations(view, 0) == Hosts{2});
}

TEST_CASE("ring and transfer: both ends", "[unit]") {
  sim::GraphBuilder builder;
  sim::CollectiveSpec spec;
  spec.members = {2, 0, 1};
  const auto ring = builder.add_collective(spec, "ring");
  const auto move = builder.add_transfer(0, 3, "move", {}, std::vector{ring});
  builder.add_operation(OpKind::kCompute, Lane::kCompute, 0, "after", std::vector{move});
  const HostView view(builder.finish());
  CHECK(role_of(view, ring, 0) == Role::kRing);
  CHECK(role_of(view, ring, 3) == Role::kNone);
  CHECK(gate_of(view, ring, 0) == view.index.gate_begin[ring] + 1);  // rank 1
  CHECK(gate_of(view, move, 3) == kNoGate);
  CHECK(view.observer(view.index.source_begin[move]) == 3);
  CHECK(view.listeners(view.index.source_begin[move]) == Hosts{0});
  CHECK(destinations(view, 0) == Hosts{1, 3});  // next in the ring, and the transfer
  CHECK(destinations(view, 1) == Hosts{2});
}

}  // namespace
}  // namespace gradwire::emulator
