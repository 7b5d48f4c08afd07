#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/file_descriptor.h"
#include "codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

constexpr std::int64_t kShape[] = {4, 6};
constexpr float kSharedScale = 4.0f;

/// Zeros, both signs, small and large, and equal ones; exact in binary16.
const std::vector<float> kValues = {0.5f,  -0.25f, 0.0f,    1.5f,   -2.0f, 0.125f,  -0.5f,  3.0f,
                                    0.0f,  -1.0f,  0.0625f, 0.75f,  -3.5f, 0.25f,   0.0f,   1.0f,
                                    -1.5f, 2.0f,   -0.125f, 0.375f, 0.5f,  -0.875f, 0.625f, -0.75f};

std::vector<std::byte> bytes_of(const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

/// One message of the codec with its default options, as docs/payloads/README.md says.
nlohmann::ordered_json message_of(const CodecInfo& info) {
  const CodecPtr codec = make_codec(info.name);
  const TensorView tensor{"weight", kShape, kValues};
  std::vector<std::uint64_t> state(codec->state_size(tensor) / 8 + 1);
  std::vector<std::uint64_t> scratch(codec->scratch_size(tensor) / 8 + 1);
  std::vector<std::byte> payload(codec->max_encoded_size(tensor));
  const float scale = codec->wants_shared_scale() ? kSharedScale : -1.0f;
  EncodeJob job{.tensor = tensor,
                .side = {.shared_scale = scale},
                .draws = {.stream = {1, 2, 3, 4}},
                .state = std::as_writable_bytes(std::span(state)).first(codec->state_size(tensor)),
                .payload = payload};
  payload.resize(codec->encode(job, std::as_writable_bytes(std::span(scratch))));
  std::vector<float> values(kValues.size());
  codec->decode({.payload = payload,
                 .side = {.shared_scale = scale},
                 .values = values,
                 .name = "weight",
                 .shape = kShape},
                std::as_writable_bytes(std::span(scratch)));
  nlohmann::ordered_json message = {{"codec", info.name}, {"shape", {4, 6}}, {"seed", 1},
                                    {"step", 2},          {"worker", 3},     {"tensor", 4}};
  if (scale >= 0) message["shared_scale"] = scale;
  message["values"] = hex(bytes_of(kValues));
  message["payload"] = hex(payload);
  message["decoded"] = hex(bytes_of(values));
  return message;
}

}  // namespace

TEST_CASE("payloads for authors of ports are what codecs write") {
  const char* source = std::getenv("GRADWIRE_SOURCE_DIR");
  const std::string folder = std::string(source ? source : ".") + "/docs/payloads/";
  const bool update = std::getenv("GRADWIRE_UPDATE_GOLDEN") != nullptr;
  for (const CodecInfo& info : codec_catalogue()) {
    CAPTURE(info.name);
    const std::string text = message_of(info).dump(1) + "\n", file = folder + info.name + ".json";
    if (update) write_file(file, text);
    CHECK(read_file(file) == text);
  }
}
