#include <catch2/catch.hpp>

#include "../cuda_batch.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

/// How many kernels a call launches, which only the stand-in for a device can say.
namespace {

struct Launches {
  unsigned encode, decode, add;
  bool operator==(const Launches&) const = default;
};

Launches launches_of(const CudaCodec& codec, std::size_t tensors) {
  std::vector<Shape> shapes;
  for (std::size_t t = 0; t < tensors; ++t)
    shapes.push_back({static_cast<std::int64_t>(5003 - 13 * t)});
  DeviceBatch batch(codec, shapes);
  const auto values = batch_values(batch, 0);
  const unsigned before = cuda_on_cpu::launch_count();
  const auto reports = batch.encode(values, 0);
  const unsigned encoded = cuda_on_cpu::launch_count();
  batch.decode(reports, nullptr);
  const unsigned decoded = cuda_on_cpu::launch_count();
  const float factor = 2;
  batch.decode(reports, &factor);
  return {encoded - before, decoded - encoded, cuda_on_cpu::launch_count() - decoded};
}

}  // namespace

TEST_CASE("a batch of streaming codecs takes the launches of one tensor") {
  unsigned streaming = 0;
  for (const CodecPair& pair : all_pairs()) {
    if (pair.gpu->encodes_one_by_one()) continue;
    INFO(pair.gpu->name());
    const Launches one = launches_of(*pair.gpu, 1);
    CHECK(launches_of(*pair.gpu, 24) == one);
    const Launches two = launches_of(*pair.gpu, 48);
    CHECK(two == Launches{2 * one.encode, 2 * one.decode, 2 * one.add});
    CHECK(one.encode <= 9);
    CHECK(one.decode <= 5);
    CHECK(one.add <= 4);
    ++streaming;
  }
  // 32 dense variants less ternary's two of 2 bits, and randomk's two; with feedback and without.
  CHECK(streaming == 64);
}

TEST_CASE("codecs that encode one by one say so by their launches") {
  const auto codec = make_cuda_codec("topk");
  CHECK(codec->encodes_one_by_one());
  CHECK(launches_of(*codec, 24).encode > 5 * launches_of(*codec, 1).encode);
}
