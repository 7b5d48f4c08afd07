#include "trainers/replays/drawn_sizes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>

#include "compressors/decorators/decorator.h"
#include "compressors/decorators/rules.h"
#include "trainers/timing/codec_costs.h"

namespace gradwire::trainers {
namespace {

using compressors::Codec;
using compressors::TensorSpec;

constexpr std::int64_t kMostDrawn = std::int64_t{1} << 20;

std::size_t encoded_size(const Codec& codec, const TensorSpec& tensor,
                         std::span<const float> values) {
  std::vector<std::byte> payload(codec.max_encoded_size(tensor));
  std::vector<std::uint64_t> scratch(codec.scratch_size(tensor) / 8 + 1);
  std::vector<std::uint64_t> state(codec.state_size(tensor) / 8 + 1);
  compressors::EncodeJob job;
  job.tensor = {tensor.name, tensor.shape, values};
  job.state = std::as_writable_bytes(std::span(state)).first(codec.state_size(tensor));
  job.payload = payload;
  return codec.encode(job, std::as_writable_bytes(std::span(scratch)));
}

std::int64_t product(std::span<const std::int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// The shape with so many rows that it has kMostDrawn elements at most; one row at least.
std::vector<std::int64_t> drawn_shape(const TensorSpec& tensor) {
  std::vector<std::int64_t> shape(tensor.shape.begin(), tensor.shape.end());
  if (shape.empty()) shape = {static_cast<std::int64_t>(tensor.n)};
  const std::int64_t row =
      std::max<std::int64_t>(1, product(shape) / std::max<std::int64_t>(1, shape[0]));
  shape[0] = std::clamp<std::int64_t>(kMostDrawn / row, 1, shape[0]);
  return shape;
}

/// Of one codec, not of rules: which of those a tensor takes is decided by the whole tensor.
class DrawnSizes final : public compressors::Decorator {
 public:
  explicit DrawnSizes(compressors::CodecPtr codec) : Decorator(std::move(codec), "") {}

  std::size_t encode(compressors::EncodeJob& job, std::span<std::byte> scratch) const override {
    return inner().encode(job, scratch);
  }

  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    const std::vector<std::int64_t> shape = drawn_shape(tensor);
    const auto count = static_cast<std::size_t>(product(shape));
    auto known = sizes_.find(shape);
    if (known == sizes_.end()) {
      if (values_.size() < count) values_ = drawn_values(static_cast<std::int64_t>(count));
      const TensorSpec drawn{count, tensor.name, shape};
      const std::size_t size = encoded_size(inner(), drawn, std::span(values_).first(count));
      known = sizes_.emplace(shape, size).first;
    }
    const double factor = static_cast<double>(tensor.n) / static_cast<double>(count);
    return static_cast<std::size_t>(std::llround(static_cast<double>(known->second) * factor));
  }

 private:
  mutable std::vector<float> values_;
  mutable std::map<std::vector<std::int64_t>, std::size_t> sizes_;
};

}  // namespace

bool has_fixed_size(const Codec& codec) {
  constexpr std::int64_t kElements = 1000;
  const std::vector<std::int64_t> shape = {kElements};
  const TensorSpec probe{kElements, "probe", shape};
  const std::size_t most = codec.max_encoded_size(probe);
  return encoded_size(codec, probe, std::vector<float>(kElements, 0.0f)) == most &&
         encoded_size(codec, probe, drawn_values(kElements)) == most;
}

compressors::CodecPtr with_drawn_sizes(compressors::CodecPtr codec) {
  return compressors::with_each_codec(
      codec, [](const compressors::CodecPtr& one) { return std::make_shared<DrawnSizes>(one); });
}

}  // namespace gradwire::trainers
