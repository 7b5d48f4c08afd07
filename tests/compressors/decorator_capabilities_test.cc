#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <functional>

#include "codec_fixture.h"
#include "compressors/decorators/clip.h"
#include "compressors/decorators/rules.h"

/// Every codec in every decorator: what a codec can do does not get lost in a decorator.
using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

constexpr std::size_t kElements = 240;
const std::vector<std::int64_t> kShape = {12, 20};

struct DecoratorCase {
  const char* name;
  std::function<CodecPtr(CodecPtr)> wrap;
  /// Parts of a tensor have other norms than the tensor: then it is not requantised.
  bool by_tensor = false;
};

/// Those that change values are set so that they change none of a fresh state's first tensor.
const std::vector<DecoratorCase>& decorators() {
  static const std::vector<DecoratorCase> all = {
      {"clip by norm",
       [](CodecPtr codec) {
         return with_clipping(codec, {ClipBy::kNorm, 1e30});
       },
       true},
      {"clip by value",
       [](CodecPtr codec) {
         return with_clipping(codec, {ClipBy::kValue, 1e30});
       }},
      {"clip by sigma",
       [](CodecPtr codec) {
         return with_clipping(codec, {ClipBy::kSigma, 1e6});
       },
       true},
      {"error feedback", [](CodecPtr codec) { return with_error_feedback(codec); }},
      {"momentum",
       [](CodecPtr codec) { return with_momentum_correction(codec, {.masking = false}); }},
      {"rules",
       [](CodecPtr codec) {
         return with_rules({{{.names = "another tensor"}, make_codec("none")}}, codec);
       }},
      {"feedback in a clip in rules",
       [](CodecPtr codec) {
         return with_rules({{{.names = "another tensor"}, make_codec("none")}},
                           with_clipping(with_error_feedback(codec), {ClipBy::kValue, 1e30}));
       }},
  };
  return all;
}

TensorView tensor_of(const std::vector<float>& values) {
  return view_of(values, kShape);
}

/// State and scratch of exactly the sizes that a codec asks for.
struct Memory {
  explicit Memory(const Codec& codec)
      : state_words((codec.state_size(spec()) + 7) / 8),
        scratch_words((codec.scratch_size(spec()) + 7) / 8),
        state(std::as_writable_bytes(std::span(state_words)).first(codec.state_size(spec()))),
        scratch(
            std::as_writable_bytes(std::span(scratch_words)).first(codec.scratch_size(spec()))) {}
  static TensorSpec spec() { return {kElements, "layer", kShape}; }
  std::vector<std::uint64_t> state_words, scratch_words;
  std::span<std::byte> state, scratch;
};

std::vector<std::byte> message(const Codec& codec, const std::vector<float>& values) {
  Memory memory(codec);
  std::vector<std::byte> payload(codec.max_encoded_size(Memory::spec()));
  EncodeJob job{.tensor = tensor_of(values), .state = memory.state, .payload = payload};
  payload.resize(codec.encode(job, memory.scratch));
  return payload;
}

std::vector<float> values_of(const Codec& codec, const std::vector<std::byte>& payload) {
  Memory memory(codec);
  std::vector<float> values(kElements, 1.0f);
  codec.decode({.payload = payload, .values = values, .name = "layer", .shape = kShape},
               memory.scratch);
  return values;
}

std::vector<std::uint32_t> terms(const Codec& codec, const std::vector<float>& values, float scale,
                                 Memory& memory) {
  std::vector<std::uint32_t> out(kElements);
  codec.encode_terms({.tensor = tensor_of(values),
                      .side = {.shared_scale = scale, .mask = {}},
                      .state = memory.state,
                      .terms = out},
                     memory.scratch);
  return out;
}

std::string packed(const Codec& codec, const std::vector<std::uint32_t>& terms) {
  std::vector<std::byte> bytes(codec.sum_terms()->packed_size(terms.size(), 1));
  codec.sum_terms()->pack(terms, 1, bytes);
  return hex(bytes);
}

bool equal(const std::optional<PackedElements>& a, const std::optional<PackedElements>& b) {
  if (a.has_value() != b.has_value()) return false;
  return !a || (a->head == b->head && a->bits == b->bits && a->bucket == b->bucket);
}

std::vector<std::string> names_of(const std::vector<PayloadField>& fields) {
  std::vector<std::string> names;
  for (const PayloadField& field : fields)
    names.push_back(field.name + " " + field.type + " = " + field.value);
  return names;
}

void check_capabilities(const Codec& codec, const Codec& decorated, bool by_tensor) {
  const bool parts = by_tensor && codec.policy() == AggregatePolicy::kRequantize;
  CHECK(decorated.policy() == (parts ? AggregatePolicy::kGather : codec.policy()));
  CHECK(decorated.wants_shared_scale() == codec.wants_shared_scale());
  CHECK(decorated.max_encoded_size(Memory::spec()) == codec.max_encoded_size(Memory::spec()));
  CHECK(decorated.state_size(Memory::spec()) >= codec.state_size(Memory::spec()));
  CHECK(equal(decorated.packed_elements(Memory::spec()), codec.packed_elements(Memory::spec())));
  const SumTerms* sums = chosen_codec(decorated, Memory::spec()).sum_terms();
  REQUIRE((sums != nullptr) == (codec.sum_terms() != nullptr));
  for (int workers = 1; sums && workers <= 9; ++workers)
    CHECK(sums->width_bits(workers) == codec.sum_terms()->width_bits(workers));
}

/// Of a fresh state, where nothing is clipped or fed back yet.
void check_first_message(const Codec& codec, const Codec& decorated) {
  const std::vector<float> values = random_values(kElements);
  CHECK(decorated.local_scale(tensor_of(values)) == codec.local_scale(tensor_of(values)));
  const std::vector<std::byte> payload = message(codec, values);
  REQUIRE((message(decorated, values) == payload));
  CHECK(values_of(decorated, payload) == values_of(codec, payload));
  CHECK(names_of(decorated.explain(payload, Memory::spec(), {})) ==
        names_of(codec.explain(payload, Memory::spec(), {})));
}

/// Precondition: the codec's messages are summed.
void check_first_terms(const Codec& codec, const Codec& decorated) {
  const std::vector<float> values = random_values(kElements);
  const float scale = codec.local_scale(tensor_of(values));
  Memory bare(codec), own(decorated);
  // As they are sent: what is fed back is what was rounded on the way.
  CHECK(packed(codec, terms(decorated, values, scale, own)) ==
        packed(codec, terms(codec, values, scale, bare)));
}

}  // namespace

TEST_CASE("what a codec can do, it can do in every decorator") {
  int summed = 0;
  for (const CodecInfo& info : codec_catalogue()) {
    const CodecPtr codec = make_codec(info.name);
    for (const DecoratorCase& decorator : decorators()) {
      INFO(info.name << " in " << decorator.name);
      const CodecPtr decorated = decorator.wrap(codec);
      check_capabilities(*codec, *decorated, decorator.by_tensor);
      check_first_message(*codec, *decorated);
      if (codec->sum_terms() == nullptr) continue;
      check_first_terms(*codec, *decorated);
      ++summed;
    }
  }
  CHECK(summed >= 4 * static_cast<int>(decorators().size()));  // none, fp16, bf16, terngrad
}

TEST_CASE("a sum feeds back what one worker's packed terms do not say") {
  for (const char* name : {"none", "fp16", "bf16", "terngrad"}) {
    INFO(name);
    const CodecPtr codec = make_codec(name), fed = with_error_feedback(codec);
    Memory memory(*fed);
    const auto* residual = reinterpret_cast<const float*>(memory.state.data());
    std::vector<double> sent(kElements), given(kElements);
    for (std::uint32_t step = 0; step < 5; ++step) {
      const std::vector<float> values = random_values(kElements, step);
      std::vector<float> corrected = values;
      for (std::size_t e = 0; e < kElements; ++e) corrected[e] += residual[e];
      float scale = -1;
      if (fed->wants_shared_scale()) {
        scale = fed->proposed_scale(tensor_of(values), memory.state, memory.scratch);
        CHECK(scale == codec->local_scale(tensor_of(corrected)));
      }
      auto own = terms(*fed, values, scale, memory);
      std::vector<float> decoded(kElements);
      codec->sum_terms()->to_values(own, {.shared_scale = scale, .mask = {}}, 1, decoded);
      for (std::size_t e = 0; e < kElements; ++e) {
        sent[e] += decoded[e];
        given[e] += values[e];
      }
    }
    // c_t = g_t + e_t - e_{t+1}, so that over the steps sum c = sum g - e.
    double kept = 0;
    for (std::size_t e = 0; e < kElements; ++e) {
      CHECK(sent[e] + residual[e] == Approx(given[e]).margin(1e-5));
      kept = std::max(kept, std::abs(double{residual[e]}));
    }
    CHECK((kept > 0) == (codec->name() != "none"));  // fp32 loses nothing
  }
}

TEST_CASE("what is summed is the clipped tensor, and the velocity where momentum is corrected") {
  const CodecPtr codec = make_codec("terngrad", {{"clip", "0"}});
  const std::vector<float> values = random_values(kElements);
  const float largest = codec->local_scale(tensor_of(values));
  const CodecPtr clipped = with_clipping(codec, {ClipBy::kValue, largest / 2});
  CHECK(clipped->local_scale(tensor_of(values)) == largest / 2);

  const CodecPtr moving = with_momentum_correction(
      make_codec("none"), {.momentum = 0.5, .nesterov = false, .masking = false});
  Memory memory(*moving);
  std::vector<float> sum(kElements);
  for (int step = 0; step < 3; ++step) {
    const auto own = terms(*moving, values, -1, memory);
    std::memcpy(sum.data(), own.data(), own.size() * sizeof(float));
  }
  // fp32 sends all of v = u each time: u_3 = g (1 + 0.5 + 0.25).
  for (std::size_t e = 0; e < kElements; ++e) CHECK(sum[e] == Approx(1.75f * values[e]));
}

TEST_CASE("the scale that momentum proposes is of the velocity that it will send") {
  for (const bool nesterov : {false, true}) {
    const CodecPtr codec = make_codec("terngrad");
    const CodecPtr moving =
        with_momentum_correction(codec, {.momentum = 0.5, .nesterov = nesterov, .masking = false});
    Memory memory(*moving);
    for (std::uint32_t step = 0; step < 3; ++step) {
      const std::vector<float> values = random_values(kElements, step);
      const auto* u = reinterpret_cast<const float*>(memory.state.data());
      const float* v = u + kElements;
      std::vector<float> next(kElements);
      for (std::size_t e = 0; e < kElements; ++e)
        next[e] = nesterov ? v[e] + 0.5f * (u[e] + values[e]) + values[e]
                           : v[e] + (0.5f * u[e] + values[e]);
      const float scale = moving->proposed_scale(tensor_of(values), memory.state, memory.scratch);
      CHECK(scale == codec->local_scale(tensor_of(next)));
      terms(*moving, values, scale, memory);
    }
  }
}

TEST_CASE("a tensor that is not finite is refused before a sum's residual changes") {
  const CodecPtr codec = with_error_feedback(make_codec("fp16"));
  Memory memory(*codec);
  std::vector<float> values = random_values(kElements);
  terms(*codec, values, -1, memory);
  const auto before = memory.state_words;
  values[7] = std::nanf("");
  CHECK_THROWS_WITH(terms(*codec, values, -1, memory), Catch::Contains("element 7"));
  CHECK(memory.state_words == before);
}
