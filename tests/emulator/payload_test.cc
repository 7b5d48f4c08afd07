#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <thread>

#include "emulator/exchange/payload_store.h"
#include "emulator_fixture.h"

namespace gradwire::emulator {
namespace {

using sim::OpIndex;

std::vector<std::byte> drawn(std::size_t size, std::uint32_t seed) {
  std::vector<std::byte> bytes(size);
  for (std::byte& value : bytes) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<std::byte>(seed >> 24);
  }
  return bytes;
}

TEST_CASE("payload store: what is put there is found by message until it is removed", "[unit]") {
  PayloadStore store;
  const PayloadReader reader(store.memory().get());
  const std::vector<std::byte> first = drawn(100'000, 1), second = drawn(7, 2);
  sim::Payloads payloads;
  payloads.add(4, first);
  payloads.add(6, second);
  store.put(1, payloads);
  store.put(payload_layout::kSlots + 2, payloads);  // a slot of another number
  CHECK(reader.rows(1) == 2);
  const PayloadIndex index(reader, 1);
  const sim::HopTransfer hop = payloads.messages()[1].hop;
  const auto found = reader.row(1, index.find(6, hop).value()).value();
  CHECK(std::ranges::equal(found.bytes, second));
  CHECK(is_same_message(*found.message, 6, hop));
  CHECK_FALSE(is_same_message(*found.message, 4, hop));
  CHECK_FALSE(index.find(5, hop));
  CHECK_FALSE(reader.row(1, 2));
  CHECK(reader.rows(2) == 0);  // never put there
  CHECK(std::ranges::equal(reader.row(payload_layout::kSlots + 2, 0).value().bytes, first));
  store.remove(1);
  store.put(payload_layout::kSlots + 1, payloads);  // takes the slot
  CHECK(reader.rows(1) == 0);
  CHECK(reader.rows(payload_layout::kSlots + 1) == 2);
}

/// Two hosts' transfer of `bytes`, with what it holds.
struct Sent {
  sim::GraphPtr graph;
  sim::Payloads payloads;

  explicit Sent(std::span<const std::byte> bytes) {
    sim::GraphBuilder builder;
    payloads.add(builder.add_transfer(0, 1, "move", {}), bytes);
    graph = builder.finish();
  }
  sim::GraphId submit(sim::Executor& executor, Bytes size) const {
    const std::vector<Seconds> seconds(1);
    return executor.submit(
        {.graph = graph, .bytes = std::span(&size, 1), .seconds = seconds, .payloads = &payloads});
  }
};

TEST_CASE("emulator: messages hold what the method made, and are counted",
          "[net][needs-namespaces]") {
  const auto emulator = emulator_or_skip(sim::Cluster::star(2, link_of(1e9)), quick_options());
  const std::vector<std::byte> bytes = drawn(50'000, 3);
  const Sent sent(bytes);
  for (int step = 0; step < 3; ++step) {
    const auto id = sent.submit(*emulator, Bytes(50'000));
    sim::run_to_end(*emulator, id);
    emulator->forget(id);
  }
  sim::run_to_end(*emulator, submit(*emulator, sent.graph, {Bytes(1'000)}));
  CHECK(emulator->payloads().own == Bytes(150'000));
  CHECK(emulator->payloads().pattern == Bytes(1'000));
  CHECK(emulator->payloads().messages == 4);
}

/// Of this process: the memory that it shares with the emulator's, opened once more.
FileDescriptor shared_memory() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    if (std::error_code none;
        std::filesystem::read_symlink(entry, none).string().starts_with("/memfd:gradwire-payloads"))
      return FileDescriptor(::dup(std::stoi(entry.path().filename().string())));
  return {};
}

TEST_CASE("emulator: a byte that is not what was sent ends the run", "[net][needs-namespaces]") {
  // 1 MB at 8 Mbps take a second; the kernel has all of it long before.
  const auto emulator = emulator_or_skip(sim::Cluster::star(2, link_of(8e6)), quick_options());
  const std::vector<std::byte> bytes = drawn(1'000'000, 4);
  const Sent sent(bytes);
  const auto id = sent.submit(*emulator, Bytes(1'000'000));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  // The end of what the receiver expects is changed: the table of one row, then the bytes.
  const FileDescriptor memory = shared_memory();
  REQUIRE(memory.valid());
  payload_layout::Slot slot;
  REQUIRE(::pread(memory.get(), &slot, sizeof slot,
                  static_cast<off_t>(id % payload_layout::kSlots * sizeof slot)) == sizeof slot);
  const auto wrong = static_cast<std::byte>(~std::to_integer<unsigned>(bytes.back()));
  REQUIRE(::pwrite(memory.get(), &wrong, 1, static_cast<off_t>(slot.table + slot.size - 1)) == 1);
  CHECK_THROWS_WITH(sim::run_to_end(*emulator, id),
                    Catch::Contains("not what was sent") && Catch::Contains("1000000"));
}

TEST_CASE("emulator: the clock stands still while nothing is under way",
          "[net][needs-namespaces]") {
  const auto emulator = emulator_or_skip(sim::Cluster::star(2, link_of(1e9)), quick_options());
  const std::vector<std::byte> bytes = drawn(1'000, 5);
  const Sent sent(bytes);
  CHECK(emulator->now() == Seconds(0));
  const Seconds end = sim::run_to_end(*emulator, sent.submit(*emulator, Bytes(1'000))).end;
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const Seconds stood = emulator->now();
  CHECK(stood >= end);
  CHECK(stood < end + Seconds(0.2));
  const auto next = sent.submit(*emulator, Bytes(1'000));
  CHECK(emulator->timeline(next).start >= stood);
  CHECK(emulator->timeline(next).start < stood + Seconds(0.1));
  CHECK(sim::run_to_end(*emulator, next).end > stood);
  std::vector<sim::Event> events;
  const Seconds later = emulator->now() + Seconds(1000);
  CHECK_FALSE(emulator->advance(later, events));  // at once
  CHECK(emulator->now() == later);
}

}  // namespace
}  // namespace gradwire::emulator
