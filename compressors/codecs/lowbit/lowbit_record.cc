#include "compressors/codecs/lowbit/lowbit_record.h"

#include <cmath>

#include "compressors/codecs/packed_table.h"
#include "compressors/field_text.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "lowbit";

std::string scales_text(std::span<const std::byte> payload, std::size_t groups) {
  return first_few(groups, [&](std::size_t g) {
    return float_text(load_field<float>(payload, kLowbitScales + 4 * g));
  });
}

void check_scales(std::span<const std::byte> payload, const LowbitRecord& record) {
  for (std::size_t g = 0; g < record.groups(); ++g) {
    const std::size_t at = kLowbitScales + 4 * g;
    const float alpha = load_field<float>(payload, at);
    if (!std::isfinite(alpha * record.entries().top) || std::signbit(alpha))
      refuse_payload(
          kName, payload.size(),
          std::string("byte ").append(std::to_string(at)) +
              " begins a scale that is negative or whose largest multiple is not finite");
  }
}

}  // namespace

LowbitRecord load_lowbit_record(std::span<const std::byte> payload, std::size_t n) {
  const auto require = [&](bool holds, const char* reason) {
    if (!holds) refuse_payload(kName, payload.size(), reason);
  };
  require(payload.size() >= kLowbitScales, "its header takes 12 bytes");
  const std::uint64_t rows = load_field<std::uint32_t>(payload, 0);
  const std::uint64_t columns = load_field<std::uint32_t>(payload, 4);
  const int table = load_field<std::uint8_t>(payload, 8),
            bits = load_field<std::uint8_t>(payload, 9);
  const int tie = load_field<std::uint8_t>(payload, 10);
  require(rows * columns == n, "bytes 0 to 7 are rows and columns of another number of elements");
  require(table < kLowbitTableCount, "byte 8 names no table");
  require(bits == kLowbitTables[table].bits, "byte 9 is not the width of the table's codes");
  require(tie <= static_cast<int>(LowbitTie::kNode), "byte 10 names no tie level");
  require(payload[11] == std::byte{0}, "byte 11 is reserved and not 0");
  const LowbitRecord record{rows, columns, table, static_cast<LowbitTie>(tie)};
  require_size(kName, payload, record.size());
  check_scales(payload, record);
  return record;
}

std::vector<PayloadField> explain_lowbit(std::span<const std::byte> payload, std::size_t n) {
  const LowbitRecord record = load_lowbit_record(payload, n);
  const auto packed = payload.subspan(record.codes());
  const auto largest = static_cast<std::uint32_t>(record.entries().count - 1);
  if (first_code_above(packed, record.bits(), n, largest) < n)
    require_codes(kName, payload, record.codes(), n, record.bits(), largest + 1, largest);
  return {
      {0, 4, "rows", "u32", std::to_string(record.rows)},
      {4, 4, "cols", "u32", std::to_string(record.columns)},
      {8, 1, "table", "u8", kLowbitTableNames[record.table]},
      {9, 1, "bits", "u8", std::to_string(record.bits())},
      {10, 1, "tie", "u8", kLowbitTieNames[static_cast<int>(record.tie)]},
      {11, 1, "reserved", "u8", "0"},
      {kLowbitScales, 4 * record.groups(), "alpha",
       std::string("f32[").append(std::to_string(record.groups())).append("]"),
       scales_text(payload, record.groups())},
      code_field(packed, record.codes(), n, record.bits(), kernels::BitOrder::kLowFirst, "codes")};
}

}  // namespace gradwire::compressors
