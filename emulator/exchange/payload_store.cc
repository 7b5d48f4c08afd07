#include "emulator/exchange/payload_store.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <type_traits>

#include "base/error.h"

namespace gradwire::emulator {

using payload_layout::kSlots;
using payload_layout::Slot;
using Message = sim::Payloads::Message;

static_assert(std::is_trivially_copyable_v<Message> && std::is_trivially_copyable_v<Slot>);

namespace {

constexpr const char* kSubject = "the memory of an emulation's payloads";
/// Address space, not memory: pages are there once they are written.
constexpr std::uint64_t kSpan = std::uint64_t{1} << 38;

/// Whole pages, of whatever size: a region's are given back without its neighbour's.
std::uint64_t end_of(std::uint64_t first, std::uint64_t size) {
  constexpr std::uint64_t kPage = 1 << 16;
  return (first + size + kPage - 1) / kPage * kPage;
}

}  // namespace

PayloadStore::PayloadStore() : memory_(::memfd_create("gradwire-payloads", MFD_CLOEXEC)) {
  if (!memory_.valid() || ::ftruncate(memory_.get(), static_cast<off_t>(kSpan)) != 0)
    throw system_error("create", kSubject, errno);
  next_ = kSlots * sizeof(Slot);
}

void PayloadStore::write(std::span<const std::byte> bytes, std::uint64_t at) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(memory_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw system_error("write to", kSubject, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    at += static_cast<std::uint64_t>(written);
  }
}

/// Places are used in turn, from the beginning again at the end. Memory is short long before they
/// are.
std::uint64_t PayloadStore::place_for(std::uint64_t size) {
  constexpr std::uint64_t kFirst = kSlots * sizeof(Slot);
  if (size > kSpan / 4)
    throw Error(ErrorKind::kFailure, "keep", "a step's payloads", "they are too large");
  std::uint64_t place = next_;
  for (;;) {
    if (place + size > kSpan) place = kFirst;
    const auto taken = std::ranges::find_if(regions_, [&](const auto& item) {
      const Region& region = item.second;
      return region.first < place + size && place < region.first + region.size;
    });
    if (taken == regions_.end()) break;
    place = end_of(taken->second.first, taken->second.size);
  }
  next_ = end_of(place, size);
  return place;
}

Slot PayloadStore::begin(sim::GraphId graph, std::uint64_t rows, std::uint64_t size) {
  const Slot slot{graph, place_for(std::max<std::uint64_t>(size, 1)), rows, size};
  regions_[graph] = {slot.table, std::max<std::uint64_t>(size, 1)};
  return slot;
}

/// What it leads to is there.
void PayloadStore::publish(const Slot& slot) {
  write(std::as_bytes(std::span(&slot, 1)), slot.graph % kSlots * sizeof(Slot));
}

void PayloadStore::put(sim::GraphId graph, const sim::Payloads& payloads) {
  const std::span<const std::byte> table = std::as_bytes(payloads.messages());
  const Slot slot =
      begin(graph, payloads.messages().size(), table.size() + payloads.bytes().size());
  write(table, slot.table);
  write(payloads.bytes(), slot.table + table.size());
  publish(slot);
}

void PayloadStore::put(sim::GraphId graph, std::uint64_t rows,
                       std::span<const std::byte> table_and_bytes) {
  const Slot slot = begin(graph, rows, table_and_bytes.size());
  write(table_and_bytes, slot.table);
  publish(slot);
}

void PayloadStore::remove(sim::GraphId graph) {
  const auto found = regions_.find(graph);
  if (found == regions_.end()) return;
  // Gives memory back where the kernel can; the place is free in any case.
  ::fallocate(memory_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              static_cast<off_t>(found->second.first), static_cast<off_t>(found->second.size));
  regions_.erase(found);
}

PayloadReader::PayloadReader(int memory) {
  void* const mapped = ::mmap(nullptr, kSpan, PROT_READ, MAP_SHARED | MAP_NORESERVE, memory, 0);
  if (mapped == MAP_FAILED) throw system_error("map", kSubject, errno);
  begin_ = static_cast<const std::byte*>(mapped);
}

PayloadReader::~PayloadReader() {
  ::munmap(const_cast<std::byte*>(begin_), kSpan);
}

const Slot* PayloadReader::slot(sim::GraphId graph) const {
  const Slot* const own = reinterpret_cast<const Slot*>(begin_) + graph % kSlots;
  return own->graph == graph && own->table != 0 ? own : nullptr;
}

std::uint32_t PayloadReader::rows(sim::GraphId graph) const {
  const Slot* const own = slot(graph);
  return own ? static_cast<std::uint32_t>(own->messages) : 0;
}

std::optional<PayloadReader::Found> PayloadReader::row(sim::GraphId graph,
                                                       std::uint32_t number) const {
  const Slot* const own = slot(graph);
  if (!own || number >= own->messages) return std::nullopt;
  const auto* const message = reinterpret_cast<const Message*>(begin_ + own->table) + number;
  const std::uint64_t bytes = own->messages * sizeof(Message) + message->offset;
  const auto size = static_cast<std::uint64_t>(message->hop.bytes.count());
  if (bytes > own->size || size > own->size - bytes) return std::nullopt;
  return Found{message, {begin_ + own->table + bytes, size}};
}

PayloadIndex::Key PayloadIndex::key_of(sim::OpIndex op, const sim::HopTransfer& hop) {
  return {op, hop.source_rank, hop.destination_rank, hop.hop, hop.block};
}

PayloadIndex::PayloadIndex(const PayloadReader& reader, sim::GraphId graph) {
  for (std::uint32_t number = 0; number < reader.rows(graph); ++number)
    if (const auto found = reader.row(graph, number))
      rows_[key_of(found->message->op, found->message->hop)] = number;
}

std::optional<std::uint32_t> PayloadIndex::find(sim::OpIndex op,
                                                const sim::HopTransfer& hop) const {
  const auto found = rows_.find(key_of(op, hop));
  return found == rows_.end() ? std::nullopt : std::optional(found->second);
}

bool is_same_message(const Message& row, sim::OpIndex op, const sim::HopTransfer& hop) {
  return row.op == op && row.hop.source_rank == hop.source_rank &&
         row.hop.destination_rank == hop.destination_rank && row.hop.hop == hop.hop &&
         row.hop.block == hop.block && row.hop.bytes == hop.bytes;
}

}  // namespace gradwire::emulator
