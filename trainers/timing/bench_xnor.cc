#include "trainers/timing/bench_xnor.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>
#include <c10/core/InferenceMode.h>

#include <vector>

#include "base/philox.h"
#include "compressors/codec.h"
#include "compressors/xnor_gemm.h"
#include "trainers/timing/bench_parts.h"
#include "trainers/timing/heap.h"
#include "trainers/timing/measure.h"

namespace gradwire::trainers {
namespace {

using compressors::plane_bytes;

/// A square matrix of +-1, and its bits as codec `binary` packs them.
class Signs {
 public:
  Signs(std::int64_t side, std::uint64_t seed, std::uint32_t number)
      : side_(static_cast<std::size_t>(side)),
        values_(side_ * side_),
        bits_(side_ * plane_bytes(side_)) {
    const RandomStream stream{.seed = seed, .worker = number};
    for (std::size_t e = 0; e < values_.size(); ++e)
      values_[e] = philox_word(stream, e) >> 31 != 0 ? 1.0f : -1.0f;
    pack();
  }
  void pack() {
    const auto side = static_cast<std::int64_t>(side_);
    const std::int64_t shape[] = {side, side};
    compressors::EncodeJob job{.tensor = {.name = "signs", .shape = shape, .data = values_},
                               .payload = bits_};
    codec_->encode(job, {});
  }
  at::Tensor tensor() {
    const auto side = static_cast<std::int64_t>(side_);
    return at::from_blob(values_.data(), {side, side}, at::kFloat);
  }
  compressors::BitPlanes planes() const { return {bits_, side_, side_}; }

 private:
  std::size_t side_;
  std::vector<float> values_;
  std::vector<std::byte> bits_;
  compressors::CodecPtr codec_ = compressors::make_codec("binary");
};

}  // namespace

XnorBenchResult bench_xnor(const XnorBenchSettings& settings) {
  keep_heap();
  at::set_num_threads(1);
  const c10::InferenceMode inference;
  const MachineLock alone;
  Signs a(settings.side, settings.seed, 0), b(settings.side, settings.seed, 1);
  std::vector<std::int32_t> product(static_cast<std::size_t>(settings.side * settings.side));
  const at::Tensor x = a.tensor(), y = b.tensor().t();
  at::Tensor theirs = at::empty({settings.side, settings.side});
  const auto own = [&] { compressors::bit_plane_gemm(a.planes(), b.planes(), product); };
  const auto torch = [&] { at::mm_out(theirs, x, y); };
  own();
  torch();
  XnorBenchResult result;
  const float* const floats = theirs.data_ptr<float>();
  for (std::size_t e = 0; e < product.size(); ++e)
    result.differ += static_cast<float>(product[e]) != floats[e];
  const PairedTimes times = time_pairs(
      settings.pairs, [&] { return time_of(torch).value(); }, [&] { return time_of(own).value(); });
  std::vector<double> ratios;
  for (std::size_t pair = 0; pair < times.first.size(); ++pair)
    ratios.push_back(times.first[pair] / times.second[pair]);
  result.own_s = spread_of(times.second).median;
  result.torch_s = spread_of(times.first).median;
  result.pack_s = median_time(settings.pairs, [&] {
                    a.pack();
                    b.pack();
                  }).value();
  result.ratio = spread_of(ratios).median;
  result.packed_ratio = result.torch_s / (result.own_s + result.pack_s);
  return result;
}

}  // namespace gradwire::trainers

extern "C" __attribute__((visibility("default"))) void gradwire_bench_xnor(
    const gradwire::trainers::XnorBenchSettings& settings,
    gradwire::trainers::XnorBenchResult& result) {
  result = gradwire::trainers::bench_xnor(settings);
}
