#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "compressors/codec.h"

/// libFuzzer target for every decoder: $GRADWIRE_FUZZ_CODEC names the codec; scripts/fuzz runs them
/// all. An input is u16 n, u8 shape, u16 choice of options, then the payload. Whatever the bytes,
/// decode, decode_accumulate, explain and the unpacking of partial sums give values or throw
/// CodecError. With $GRADWIRE_FUZZ_SEEDS, writes valid payloads to that folder first.
namespace gradwire::compressors {
namespace {

constexpr std::size_t kHeadBytes = 5;
constexpr std::size_t kMostElements = 3000;

const CodecInfo& fuzzed_codec() {
  static const CodecInfo info = [] {
    const char* name = std::getenv("GRADWIRE_FUZZ_CODEC");
    for (const CodecInfo& candidate : codec_catalogue())
      if (name != nullptr && candidate.name == name) return candidate;
    std::fprintf(stderr, "GRADWIRE_FUZZ_CODEC names no codec\n");
    std::exit(2);
  }();
  return info;
}

/// The text of a value of this option; `pick` walks through choices, switches and small integers.
std::string picked(const OptionSpec& option, unsigned& pick) {
  const auto take = [&](unsigned count) {
    const unsigned taken = pick % count;
    pick /= count;
    return taken;
  };
  if (option.type == OptionType::kBoolean) return take(2) == 0 ? "false" : "true";
  if (option.type == OptionType::kChoice) return option.choices[take(option.choices.size())];
  if (option.type == OptionType::kInteger && option.max - option.min < 16)
    return std::to_string(
        static_cast<int>(option.min) +
        static_cast<int>(take(1 + static_cast<unsigned>(option.max - option.min))));
  return option.default_text;
}

/// The codec with one of its combinations of options; the defaults where that one is refused.
CodecPtr codec_with(unsigned pick) {
  static std::vector<CodecPtr> made(65536);
  CodecPtr& codec = made[pick % made.size()];
  if (codec != nullptr) return codec;
  std::map<std::string, std::string> texts;
  for (const OptionSpec& option : fuzzed_codec().options) texts[option.name] = picked(option, pick);
  try {
    codec = make_codec(fuzzed_codec().name, texts);
  } catch (const Error&) {
    codec = make_codec(fuzzed_codec().name);
  }
  return codec;
}

struct Tensor {
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> mask;
  std::size_t n = 0;
};

Tensor tensor_of(std::size_t n, unsigned kind) {
  Tensor tensor{.shape = {static_cast<std::int64_t>(n)}, .mask = {}, .n = n};
  const std::int64_t columns = 1 + kind % 61;
  if (kind % 2 == 1 && static_cast<std::int64_t>(n) % columns == 0)
    tensor.shape = {static_cast<std::int64_t>(n) / columns, columns};
  if (fuzzed_codec().needs_mask)
    for (std::size_t i = 0; i < (n + 7) / 8; ++i)
      tensor.mask.push_back(static_cast<std::uint8_t>(i * 37 + kind));
  return tensor;
}

template <class Attempt>
void attempt(Attempt&& what) {
  try {
    what();
  } catch (const CodecError&) {
  }
}

std::vector<std::uint64_t> aligned(std::size_t bytes) {
  return std::vector<std::uint64_t>((bytes + 7) / 8);
}
std::span<std::byte> bytes_of(std::vector<std::uint64_t>& words) {
  return std::as_writable_bytes(std::span(words));
}

void decode_all(const Codec& codec, const Tensor& tensor, std::span<const std::byte> payload) {
  std::vector<float> values(tensor.n);
  auto scratch = aligned(codec.scratch_size({tensor.n, "fuzzed", tensor.shape}));
  const DecodeJob job{.payload = payload,
                      .side = {.shared_scale = -1.0f, .mask = tensor.mask},
                      .values = values,
                      .name = "fuzzed",
                      .shape = tensor.shape};
  attempt([&] { codec.decode(job, bytes_of(scratch)); });
  attempt([&] { codec.decode_accumulate(job, 0.5f, bytes_of(scratch)); });
  attempt([&] { codec.explain(payload, job.spec(), job.side); });
  if (codec.sum_terms() == nullptr) return;
  std::vector<std::uint32_t> terms(tensor.n);
  for (const int workers : {1, 3, 100}) {
    attempt([&] { codec.sum_terms()->unpack_store(payload, workers, terms); });
    attempt([&] { codec.sum_terms()->unpack_add(payload, workers, terms); });
  }
}

/// One valid input: values of one sign pattern and many zeros, so that sparse coders have work.
void write_seed(const std::string& folder, unsigned number) {
  const std::size_t n = number * number * 7 % kMostElements;
  const Tensor tensor = tensor_of(n, number);
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i)
    if (uniform({.seed = number}, i) < 0.5f) values[i] = uniform({.seed = 5}, i) - 0.5f;
  const CodecPtr codec = codec_with(number * 31);
  const TensorView view{"fuzzed", tensor.shape, values};
  auto scratch = aligned(codec->scratch_size(view)), state = aligned(codec->state_size(view));
  std::vector<std::byte> payload(codec->max_encoded_size(view));
  EncodeJob job{.tensor = view,
                .side = {.shared_scale = -1.0f, .mask = tensor.mask},
                .draws = {},
                .state = bytes_of(state),
                .payload = payload};
  attempt([&] { payload.resize(codec->encode(job, bytes_of(scratch))); });
  const unsigned pick = number * 31;
  const unsigned char head[kHeadBytes] = {
      static_cast<unsigned char>(n & 255), static_cast<unsigned char>(n >> 8),
      static_cast<unsigned char>(number), static_cast<unsigned char>(pick & 255),
      static_cast<unsigned char>(pick >> 8)};
  std::ofstream out(folder + "/seed" + std::to_string(number), std::ios::binary);
  out.write(reinterpret_cast<const char*>(head), kHeadBytes);
  out.write(reinterpret_cast<const char*>(payload.data()),
            static_cast<std::streamsize>(payload.size()));
}

}  // namespace
}  // namespace gradwire::compressors

using namespace gradwire::compressors;

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  if (const char* folder = std::getenv("GRADWIRE_FUZZ_SEEDS"))
    for (unsigned number = 0; number < 64; ++number) write_seed(folder, number);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < kHeadBytes) return -1;
  const std::size_t n = (data[0] | data[1] << 8) % kMostElements;
  // A copy of its own, so that a read beyond the payload is noticed.
  const std::vector<std::byte> payload(reinterpret_cast<const std::byte*>(data) + kHeadBytes,
                                       reinterpret_cast<const std::byte*>(data) + size);
  decode_all(*codec_with(data[3] | static_cast<unsigned>(data[4]) << 8), tensor_of(n, data[2]),
             payload);
  return 0;
}
