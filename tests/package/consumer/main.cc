#include <cmath>
#include <cstdio>
#include <vector>

#include "compressors/codec.h"
#include "compressors/frame.h"

using namespace gradwire::compressors;

/// Encodes with error feedback, frames the payload, reads it back and decodes it.
int main() {
  const std::vector<float> gradient = {0.1f, -0.9f, 0.05f, 0.0f, 0.4f, 0.0f, 0.7f, 0.01f};
  const CodecPtr codec = with_error_feedback(make_codec("topk", {{"ratio", "0.25"}}));
  const TensorView tensor{"layer", {}, gradient};
  std::vector<std::byte> payload(codec->max_encoded_size(tensor));
  std::vector<double> state(codec->state_size(tensor) / 8 + 1),
      scratch(codec->scratch_size(tensor) / 8 + 1);
  EncodeJob job{
      .tensor = tensor, .state = std::as_writable_bytes(std::span(state)), .payload = payload};
  payload.resize(codec->encode(job, std::as_writable_bytes(std::span(scratch))));
  const auto bytes =
      write_frame({.codec = "topk", .options = {{"ratio", "0.25"}}, .n = 8}, payload);
  const Frame frame = read_frame(bytes);
  std::vector<float> decoded(8);
  make_codec(frame.header.codec, frame.header.options)
      ->decode({.payload = frame.payload, .values = decoded},
               std::as_writable_bytes(std::span(scratch)));
  for (const float value : decoded) std::printf("%g ", static_cast<double>(value));
  std::printf("\n");
  return decoded[1] == -0.9f && decoded[6] == 0.7f && decoded[0] == 0.0f ? 0 : 1;
}
