#include "compressors/codecs/level_coding.h"

#include <sstream>

#include "compressors/payload.h"

namespace gradwire::compressors {

void require_draws(std::string_view codec, const TensorView& tensor, const Draws& draws) {
  const std::size_t n = tensor.data.size();
  GRADWIRE_ASSERT(draws.injected.empty() || draws.injected.size() == n);
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 34;
  if (n > kLimit || draws.first_element > kLimit - n)
    refuse_tensor(codec, tensor.name, "a random stream has draws for 2^34 elements only");
}

PayloadField float_field(std::span<const std::byte> payload, std::size_t at, std::string name) {
  std::ostringstream text;
  text.precision(9);
  text << load_field<float>(payload, at);
  return {at, 4, std::move(name), "f32", text.str()};
}

PayloadField code_field(std::span<const std::byte> packed, std::size_t offset, std::size_t n,
                        int bits, kernels::BitOrder order, std::string name) {
  std::uint8_t codes[8];
  const std::size_t shown = std::min<std::size_t>(n, 8);
  kernels::unpack_codes(packed.data(), shown, bits, order, codes);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += (i > 0 ? " " : "") + std::to_string(codes[i]);
  if (n > shown) text += " ...";
  const char* end = order == kernels::BitOrder::kHighFirst ? ", high bits first" : "";
  return {offset, packed.size(), std::move(name),
          "u" + std::to_string(bits) + "[" + std::to_string(n) + "]" + end, text};
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
