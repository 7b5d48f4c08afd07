#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "base/file_descriptor.h"
#include "sim/graph/payloads.h"
#include "sim/session/executor.h"

/// What a method's messages hold, shared by the executor, which writes it, and its workers, which
/// send it and hold what arrives against it. (A worker on a machine of its own writes what the
/// executor tells it: emulator/cluster/payload_part.h.) The memory has no name, and goes with the
/// last of these processes. A graph's table and bytes are there before any worker hears of the
/// graph:
///
///   directory   kSlots entries; that of graph g is g mod kSlots: {g, where its table is, messages}
///   a table     sim::Payloads::Message for each message, offsets from the end of the table
///   its bytes
namespace gradwire::emulator {

namespace payload_layout {
/// More graphs than are under way at once.
inline constexpr std::size_t kSlots = 4096;
struct Slot {
  std::uint64_t graph = 0;
  std::uint64_t table = 0;     ///< 0: the graph has no payloads
  std::uint64_t messages = 0;  ///< rows of the table
  std::uint64_t size = 0;      ///< of table and bytes
};
}  // namespace payload_layout

/// The executor's end.
class PayloadStore {
 public:
  /// Throws Error where the kernel has no such memory.
  PayloadStore();
  /// For the processes that inherit it.
  const FileDescriptor& memory() const { return memory_; }

  /// Before the graph is announced. Throws Error where memory is short.
  void put(sim::GraphId graph, const sim::Payloads& payloads);
  /// The same of a table of so many rows and the bytes behind it.
  void put(sim::GraphId graph, std::uint64_t rows, std::span<const std::byte> table_and_bytes);
  /// All its messages have arrived, or nobody will ever ask for them.
  void remove(sim::GraphId graph);

 private:
  struct Region {
    std::uint64_t first = 0, size = 0;
  };
  void write(std::span<const std::byte> bytes, std::uint64_t at);
  payload_layout::Slot begin(sim::GraphId graph, std::uint64_t rows, std::uint64_t size);
  void publish(const payload_layout::Slot& slot);
  std::uint64_t place_for(std::uint64_t size);

  FileDescriptor memory_;
  std::map<sim::GraphId, Region> regions_;
  std::uint64_t next_ = 0;
};

/// A worker's end.
class PayloadReader {
 public:
  /// `memory`: a PayloadStore's.
  explicit PayloadReader(int memory);
  PayloadReader(const PayloadReader&) = delete;  // spans lead into its mapping
  PayloadReader& operator=(const PayloadReader&) = delete;
  ~PayloadReader();

  struct Found {
    const sim::Payloads::Message* message = nullptr;
    std::span<const std::byte> bytes;
  };
  /// Row `number` (from 0) of the graph's table. Nothing: there is none. Thread-safe.
  std::optional<Found> row(sim::GraphId graph, std::uint32_t number) const;
  std::uint32_t rows(sim::GraphId graph) const;

 private:
  const payload_layout::Slot* slot(sim::GraphId graph) const;

  const std::byte* begin_ = nullptr;
};

/// What one host sends of a graph: rows by message.
class PayloadIndex {
 public:
  PayloadIndex(const PayloadReader& reader, sim::GraphId graph);
  /// Its number in the graph's table. Nothing: what it holds is not known.
  std::optional<std::uint32_t> find(sim::OpIndex op, const sim::HopTransfer& hop) const;

 private:
  using Key = std::array<std::int64_t, 5>;
  static Key key_of(sim::OpIndex op, const sim::HopTransfer& hop);
  std::map<Key, std::uint32_t> rows_;
};

/// Whether a message's header names the message of that row.
bool is_same_message(const sim::Payloads::Message& row, sim::OpIndex op,
                     const sim::HopTransfer& hop);

}  // namespace gradwire::emulator
