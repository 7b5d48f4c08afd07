#include "emulator/exchange/pattern.h"

#include <algorithm>

namespace gradwire::emulator {
namespace {

std::vector<std::byte> make_table(std::size_t size) {
  std::vector<std::byte> table(size);
  std::uint64_t word = 0;
  for (std::byte& value : table) {
    word += 0x9E3779B97F4A7C15ull;
    value = static_cast<std::byte>(word >> 56);
  }
  return table;
}

}  // namespace

std::span<const std::byte> Pattern::slice(std::size_t offset, std::size_t size) {
  const std::lock_guard lock(mutex_);
  const std::size_t needed = offset + size;
  if (tables_.empty() || tables_.back().size() < needed)
    tables_.push_back(make_table(std::max<std::size_t>(needed * 2, std::size_t{1} << 20)));
  return std::span<const std::byte>(tables_.back()).subspan(offset, size);
}

std::size_t pattern_offset(std::uint32_t op, const sim::HopTransfer& hop) {
  std::uint64_t word = op;
  for (const std::int32_t part : {hop.source_rank, hop.hop, hop.block})
    word = (word + static_cast<std::uint32_t>(part) + 1) * 0x9E3779B97F4A7C15ull;
  return static_cast<std::size_t>(word >> 52);
}

}  // namespace gradwire::emulator
