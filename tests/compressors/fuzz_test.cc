#include <catch2/catch.hpp>
#include <cmath>

#include "codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

/// Mutated payloads: a decoder either gives values or throws CodecError, and never touches a byte
/// outside its buffers (each is allocated to size, for the sanitizers).
namespace {

constexpr int kPayloads = 20000;

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : stream_{.seed = seed} {}
  std::uint32_t below(std::uint32_t limit) { return philox_word(stream_, next_++) % limit; }

  std::vector<std::byte> mutate(std::vector<std::byte> bytes) {
    const std::uint32_t kind = below(8);
    if (kind == 0) bytes.resize(below(static_cast<std::uint32_t>(bytes.size()) + 1));
    if (kind == 1) bytes.resize(bytes.size() + 1 + below(9), std::byte{0xFF});
    if (kind == 2)
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(below(256));
    const std::uint32_t edits = bytes.empty() ? 0 : below(4);
    for (std::uint32_t i = 0; i < edits; ++i)
      bytes[below(static_cast<std::uint32_t>(bytes.size()))] ^=
          static_cast<std::byte>(1u << below(8));
    return bytes;
  }

 private:
  RandomStream stream_;
  std::uint64_t next_ = 0;
};

struct Outcome {
  int decoded = 0;
  int refused = 0;
};

template <class Decode>
void count(Outcome& outcome, Decode&& decode) {
  try {
    decode();
    ++outcome.decoded;
  } catch (const CodecError&) {
    ++outcome.refused;
  }
}

}  // namespace

TEST_CASE("decoders are safe on any bytes") {
  for (const CodecPtr& codec : all_codecs(false)) {
    INFO(codec->name());
    Mutator mutator(1);
    Outcome outcome;
    for (int i = 0; i < kPayloads; ++i) {
      const std::size_t n = mutator.below(70);
      const auto payload =
          mutator.mutate(encode(*codec, random_values(n, static_cast<std::uint32_t>(i))));
      count(outcome, [&] { decode(*codec, payload, n); });
      std::vector<float> sum(n);
      count(outcome, [&] { decode_add(*codec, payload, 0.5f, sum); });
    }
    CHECK(outcome.decoded > kPayloads / 10);
    CHECK(outcome.refused > kPayloads / 10);
  }
}

TEST_CASE("packed terms are safe on any bytes") {
  for (const CodecPtr& codec : all_codecs(false)) {
    const SumTerms* sums = codec->sum_terms();
    if (sums == nullptr) continue;
    INFO(codec->name());
    Mutator mutator(2);
    Outcome outcome;
    for (int i = 0; i < kPayloads; ++i) {
      const std::size_t n = mutator.below(70);
      const int workers = 1 + static_cast<int>(mutator.below(200));
      std::vector<std::uint32_t> terms(n, 0u);
      std::vector<std::byte> packed(sums->packed_size(n, workers));
      sums->pack(terms, workers, packed);
      const auto payload = mutator.mutate(packed);
      count(outcome, [&] { sums->unpack_add(payload, workers, terms); });
      count(outcome, [&] { sums->unpack_store(payload, workers, terms); });
    }
    CHECK(outcome.decoded > kPayloads / 10);
    CHECK(outcome.refused > kPayloads / 10);
  }
}
