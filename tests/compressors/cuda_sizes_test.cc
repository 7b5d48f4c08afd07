#include <catch2/catch.hpp>

#include "codec_fixture.h"
#include "compressors/cuda/cuda_codec.h"
#include "cuda_variants.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

/// What the host decides about CUDA codecs; needs no device.

TEST_CASE("CUDA codecs have the names and sizes of the CPU's") {
  const std::vector<std::int64_t> shape = {1001, 3};
  for (const auto& [name, options] : kVariants) {
    const CodecPtr cpu = make_codec(name, options);
    const CudaCodecPtr gpu = make_cuda_codec(name, options);
    INFO(name);
    CHECK(gpu->name() == cpu->name());
    CHECK(gpu->wants_shared_scale() == cpu->wants_shared_scale());
    for (const std::size_t n : {0u, 1u, 7u, 4096u, 100003u}) {
      CHECK(gpu->max_encoded_size(n) == cpu->max_encoded_size(n));
      CHECK(gpu->state_size(n) == cpu->state_size(n));
      CHECK(with_error_feedback(gpu)->state_size(n) == with_error_feedback(cpu)->state_size(n));
    }
    const TensorSpec matrix(3003, "weight", shape);
    CHECK(gpu->max_encoded_size(matrix) == cpu->max_encoded_size(matrix));
  }
}

TEST_CASE("codecs and options without a CUDA version are refused, not replaced") {
  const auto refused = [](const char* name, const Options& options) {
    try {
      make_cuda_codec(name, options);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::kCapability;
    }
    return false;
  };
  CHECK(refused("qsgd", {{"format", "sparse"}}));
  CHECK(refused("qsgd", {{"format", "dense"}}));
  CHECK(refused("topk", {{"indices", "golomb"}}));
  CHECK(refused("topk", {{"values", "fp16"}}));
  CHECK(refused("powersgd", {}));
  CHECK(refused("sz", {}));
  CHECK(refused("csr", {}));
  CHECK_THROWS_AS(make_cuda_codec("no such codec"), Error);
  CHECK_THROWS_AS(make_cuda_codec("minmax", {{"bits", "9"}}), Error);
}

TEST_CASE("payloads of impossible sizes are refused before anything is enqueued") {
  // decode() would begin a report on the device; the call inside it looks at the size first.
  const auto refused = [](const char* name, std::size_t bytes, std::size_t n) {
    try {
      const CudaDecodeJob job{.payload_bytes = bytes, .n = n};
      make_cuda_codec(name)->enqueue_decode({&job, 1}, nullptr);
    } catch (const CodecError&) {
      return true;
    }
    return false;
  };
  CHECK(refused("none", 7, 2));
  CHECK(refused("int8", 13, 2));
  CHECK(refused("minmax", 15, 2));
  CHECK(refused("sign", 4, 2));
  CHECK(refused("topk", 3, 2));
  CHECK(refused("topk", 8, 2));
  CHECK(refused("topk", 4 + 8 * 3, 2));
  CHECK(refused("dgc", 3, 2));
  CHECK(refused("dgc", 9, 2));
  CHECK(refused("randomk", 8, 2));
  const CudaDecodeJob job{.payload_bytes = 4, .n = 2};
  CHECK_THROWS_AS(make_cuda_codec("stc")->enqueue_decode({&job, 1}, nullptr), Error);
}
