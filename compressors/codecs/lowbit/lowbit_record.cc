#include "compressors/codecs/lowbit/lowbit_record.h"

namespace gradwire::compressors {

LowbitRecord load_lowbit_record(std::span<const std::byte> payload, std::size_t n) {
  constexpr std::string_view kName = "lowbit";
  constexpr LowbitHead kHead;
  const Extent extent{.n = n};
  require_head(kName, payload, kHead, extent);
  const std::byte* bytes = payload.data();
  const LowbitRecord record{kHead.load<LowbitHead::kRows>(bytes),
                            kHead.load<LowbitHead::kColumns>(bytes),
                            kHead.load<LowbitHead::kTable>(bytes),
                            static_cast<LowbitTie>(kHead.load<LowbitHead::kTie>(bytes))};
  require_size(kName, payload, record.size());
  if (const LowbitBody body = record.body(); !body.good(bytes + record.scales(), extent))
    refuse_payload(kName, payload, body, extent, record.scales());
  return record;
}

}  // namespace gradwire::compressors
