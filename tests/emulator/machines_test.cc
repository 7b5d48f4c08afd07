#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/child_process.h"
#include "emulator/cluster/payload_part.h"
#include "emulator_fixture.h"

/// Hosts that are processes of their own, as on machines of a cluster.
namespace gradwire::emulator {
namespace {

struct Machines {
  std::string rendezvous;
  std::vector<ChildProcess> ranks;
  std::unique_ptr<Emulator> emulator;
};

Machines start(int hosts, int number) {
  Machines machines;
  machines.rendezvous =
      "127.0.0.1:" + std::to_string(40'000 + (static_cast<int>(::getpid()) * 7 + number) % 10'000);
  EmulatorOptions options = quick_options();
  options.rendezvous = machines.rendezvous;
  for (int rank = 0; rank < hosts; ++rank)
    machines.ranks.emplace_back(std::vector<std::string>{options.program, "rank",
                                                         std::to_string(rank), machines.rendezvous},
                                ChildProcess::Options{});
  machines.emulator = make_emulator(sim::Cluster::star(hosts, link_of(1e9)), options);
  return machines;
}

sim::GraphPtr ring_of(int hosts) {
  sim::GraphBuilder builder;
  sim::CollectiveSpec spec;
  for (int host = 0; host < hosts; ++host) spec.members.push_back(host);
  spec.elements = 250'000;
  builder.add_collective(spec, "ring");
  return builder.finish();
}

TEST_CASE("machines: steps are measured among processes, clocks and all", "[net]") {
  Machines machines = start(3, 0);
  CHECK(machines.emulator->provenance() == "measured");
  const EmulatorReport& report = machines.emulator->report();
  CHECK(report.machines == std::vector<std::string>(3, "127.0.0.1"));
  REQUIRE(report.clocks.size() == 3);
  CHECK_FALSE(report.congestion_control.empty());
  for (const ClockOffset& clock : report.clocks) {
    // One machine has one clock.
    CHECK(std::abs(clock.ahead.value()) <= clock.uncertainty.value());
    CHECK(clock.uncertainty > Seconds(0));
  }
  const auto id = submit(*machines.emulator, ring_of(3), {});
  const sim::Timeline& timeline = sim::run_to_end(*machines.emulator, id);
  // 1 MB in thirds, 4 hops of each of 3 ranks.
  CHECK(timeline.ops[0].transfers == 12);
  CHECK(timeline.ops[0].payload.count() == 4'000'000);
  machines.emulator.reset();
  for (ChildProcess& rank : machines.ranks) CHECK(rank.wait() == 0);  // they end with the run
}

/// Two transfers of the same 3 MB, from 0 to 1 and on to 2; no piece's size divides that.
struct Relayed {
  std::vector<std::byte> bytes;
  sim::GraphPtr graph;
  sim::Payloads payloads;

  Relayed() : bytes(3'000'000) {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * i >> 3);
    sim::GraphBuilder builder;
    const auto first = builder.add_transfer(0, 1, "first", {});
    payloads.add(first, bytes);
    payloads.add(builder.add_transfer(1, 2, "second", {}, std::vector{first}), bytes);
    graph = builder.finish();
  }
  sim::GraphId submit(sim::Executor& executor, Seconds not_before = {}) const {
    const std::vector<Bytes> sizes(2, Bytes(static_cast<std::int64_t>(bytes.size())));
    const std::vector<Seconds> seconds(2);
    return executor.submit({.graph = graph,
                            .bytes = sizes,
                            .seconds = seconds,
                            .not_before = not_before,
                            .payloads = &payloads});
  }
};

TEST_CASE("machines: a host's part of a graph's payloads is what it sends and receives", "[unit]") {
  const Relayed relayed;
  const HostView view(relayed.graph);
  for (int host = 0; host < 4; ++host) {
    CAPTURE(host);
    const PayloadPart part = part_of(relayed.payloads, view, host);
    PayloadIntake intake;
    int pieces = 0;
    send_part(7, part, [&](const nlohmann::json& piece) {
      intake.take(piece);
      ++pieces;
    });
    const PayloadReader reader(intake.store().memory().get());
    CHECK(reader.rows(7) == (host < 3 ? 2 : 0));
    CHECK(pieces == std::array{3, 6, 3, 0}.at(static_cast<std::size_t>(host)));  // MiB of 3 MB each
    for (std::uint32_t row = 0; row < reader.rows(7); ++row) {
      const bool own = host == static_cast<int>(row) || host == static_cast<int>(row) + 1;
      const auto found = reader.row(7, row);
      REQUIRE(found.has_value() == own);
      if (own) CHECK(std::ranges::equal(found->bytes, relayed.bytes));
    }
    intake.remove(7);
  }
}

TEST_CASE("machines: what goes to several hosts alike is told once", "[unit]") {
  sim::GraphBuilder builder;
  sim::CollectiveSpec spec;
  spec.kind = sim::CollectiveKind::kTreeBroadcast;
  spec.members = {2, 0, 1};
  const auto op = builder.add_collective(spec, "broadcast");
  const std::vector<std::byte> bytes(1000, std::byte{7});
  sim::Payloads payloads;
  for (const int rank : {1, 2}) {
    sim::HopTransfer hop;
    hop.destination_rank = rank;
    hop.bytes = Bytes(1000);
    payloads.add(op, hop, bytes);
  }
  const HostView view(builder.finish());
  const std::size_t table = 2 * sizeof(sim::Payloads::Message);
  CHECK(part_of(payloads, view, 2).table_and_bytes.size() == table + 1000);  // the root
  CHECK(part_of(payloads, view, 0).table_and_bytes.size() == table + 1000);
  CHECK(part_of(payloads, view, 1).table_and_bytes.size() == table + 1000);
  CHECK(part_of(payloads, view, 3).rows == 0);
}

TEST_CASE("machines: messages hold what the method made, and are counted", "[net]") {
  Machines machines = start(3, 2);
  const Relayed relayed;
  for (int step = 0; step < 3; ++step) {
    const auto id = relayed.submit(*machines.emulator);
    sim::run_to_end(*machines.emulator, id);
    machines.emulator->forget(id);
  }
  CHECK(machines.emulator->payloads().own == Bytes(18'000'000));
  CHECK(machines.emulator->payloads().pattern == Bytes(0));
  CHECK(machines.emulator->payloads().messages == 6);
}

/// The memory in which that process keeps payloads.
FileDescriptor memory_of(int pid) {
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd"))
    if (std::error_code none;
        std::filesystem::read_symlink(entry, none).string().starts_with("/memfd:gradwire-payloads"))
      return FileDescriptor(::open(entry.path().c_str(), O_RDWR | O_CLOEXEC));
  return {};
}

TEST_CASE("machines: a byte that is not what was sent ends the run", "[net]") {
  Machines machines = start(3, 3);
  const Relayed relayed;
  // Ranks know the payloads when submit() returns, and send half a second later.
  const auto id = relayed.submit(*machines.emulator, machines.emulator->now() + Seconds(0.5));
  const FileDescriptor memory = memory_of(machines.ranks[2].pid());
  REQUIRE(memory.valid());
  payload_layout::Slot slot;
  REQUIRE(::pread(memory.get(), &slot, sizeof slot,
                  static_cast<off_t>(id % payload_layout::kSlots * sizeof slot)) == sizeof slot);
  const auto wrong = static_cast<std::byte>(~std::to_integer<unsigned>(relayed.bytes.back()));
  REQUIRE(::pwrite(memory.get(), &wrong, 1, static_cast<off_t>(slot.table + slot.size - 1)) == 1);
  CHECK_THROWS_WITH(sim::run_to_end(*machines.emulator, id),
                    Catch::Contains("host 2") && Catch::Contains("not what was sent") &&
                        Catch::Contains("3000000"));
}

TEST_CASE("machines: a rank whose connection ends ends the run by its number", "[net]") {
  Machines machines = start(2, 1);
  sim::GraphBuilder builder;
  builder.add_operation(sim::OpKind::kCompute, sim::Lane::kCompute, 0, "endless");
  const auto id = submit(*machines.emulator, builder.finish(), {}, {Seconds(1000)});
  machines.ranks[1].signal(SIGKILL);
  CHECK_THROWS_WITH(sim::run_to_end(*machines.emulator, id),
                    Catch::Contains("worker process 1") && Catch::Contains("connection has ended"));
  machines.emulator.reset();
  CHECK(machines.ranks[0].wait() == 0);
}

TEST_CASE("machines: a rank that nobody waits for says so", "[net][slow]") {
  const EmulatorOptions options = quick_options();
  ChildProcess rank({options.program, "rank", "3", "127.0.0.1:9"}, {.pipe_stderr = true});
  std::string said;
  std::byte block[512];
  while (const std::size_t got = rank.stderr_pipe().read_some(block, "the rank"))
    said.append(reinterpret_cast<const char*>(block), got);
  CHECK(rank.wait() == 1);
  CHECK_THAT(said, Catch::Contains("rank 3") && Catch::Contains("within 8.00 s"));
}

}  // namespace
}  // namespace gradwire::emulator
