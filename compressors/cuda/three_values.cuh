#pragma once
#include "compressors/cuda/trits.cuh"

/// Codes of three values: in base 3, or two bits each.
namespace gradwire::compressors::cuda {

/// `make(tensor)` gives a rule.
template <class Make>
void encode_three(Encodes from, bool base3, std::uint64_t at, const Make& make) {
  if (base3) return encode_trits(from, at, make);
  encode_packed(from, [&](const EncodeTensor& tensor) {
    return std::pair(make(tensor), PackedCodes{.bits = 2, .at = at});
  });
}

/// `make(tensor, factor)` gives a rule that applies the factor itself.
template <class Make>
void decode_three(Decodes to, bool base3, std::uint64_t at, const Make& make) {
  const float factor = to[0].sink.factor;
  TensorList<DecodeTensor> plain;
  for (DecodeTensor tensor : to) {
    tensor.sink.factor = 1.0f;
    plain.push_back(tensor);
  }
  const auto rule = [&](const DecodeTensor& tensor) { return make(tensor, factor); };
  if (base3) return decode_trits(plain.span(), at, rule);
  decode_packed(plain.span(), [&](const DecodeTensor& tensor) {
    return std::pair(rule(tensor), PackedCodes{.bits = 2, .at = at});
  });
}

}  // namespace gradwire::compressors::cuda
