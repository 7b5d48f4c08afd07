#include "compressors/codecs/level_coding.h"

#include "compressors/field_text.h"

namespace gradwire::compressors {

PayloadField float_field(std::span<const std::byte> payload, std::size_t at, std::string name) {
  return {at, 4, std::move(name), "f32", float_text(load_field<float>(payload, at))};
}

PayloadField code_field(std::span<const std::byte> packed, std::size_t offset, std::size_t n,
                        int bits, kernels::BitOrder order, std::string name) {
  std::uint8_t codes[kFew];
  const std::size_t shown = std::min(n, kFew);
  kernels::unpack_codes(packed.data(), shown, bits, order, codes);
  const char* end = order == kernels::BitOrder::kHighFirst ? ", high bits first" : "";
  return {offset, packed.size(), std::move(name), code_array(bits, n) + end,
          first_few(n, [&](std::size_t i) { return std::to_string(codes[i]); })};
}

OptionSpec bits_option(std::string default_text, int smallest, int largest, std::string help) {
  return {.name = "bits",
          .type = OptionType::kInteger,
          .default_text = std::move(default_text),
          .help = std::move(help),
          .min = static_cast<double>(smallest),
          .max = static_cast<double>(largest)};
}

OptionSpec bucket_option(std::string default_text, std::string help) {
  return {.name = "bucket",
          .type = OptionType::kInteger,
          .default_text = std::move(default_text),
          .help = std::move(help),
          .min = 1,
          .max = 1 << 30};
}

OptionSpec rounding_option(std::string help) {
  return {.name = "rounding",
          .type = OptionType::kChoice,
          .default_text = "nearest",
          .help = std::move(help),
          .choices = {"nearest", "stochastic"}};
}

}  // namespace gradwire::compressors
