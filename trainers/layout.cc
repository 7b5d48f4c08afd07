#include "trainers/layout.h"

#include <algorithm>

#include "base/philox.h"
#include "trainers/data/sampling.h"

namespace gradwire::trainers {

std::int64_t Parameter::count() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

Layout::Layout(std::span<const Parameter> parameters, Bytes bucket) {
  for (std::size_t p = parameters.size(); p-- > 0;) {
    const Parameter& parameter = parameters[p];
    const TensorSlot slot{parameter.name, parameter.shape, static_cast<int>(p), elements_,
                          parameter.count()};
    const bool fits =
        !buckets_.empty() && (buckets_.back().count + slot.count) * 4 <= bucket.count();
    if (!fits) {
      buckets_.push_back(
          {"b" + std::to_string(buckets_.size()), tensors_.size(), tensors_.size(), elements_, 0});
    }
    buckets_.back().count += slot.count;
    ++buckets_.back().end_tensor;
    elements_ += slot.count;
    tensors_.push_back(slot);
  }
}

void initialise(std::span<const Parameter> parameters, const Layout& layout, std::uint64_t seed,
                std::span<float> weights) {
  for (const TensorSlot& slot : layout.tensors()) {
    const Parameter& parameter = parameters[static_cast<std::size_t>(slot.parameter)];
    const RandomStream stream{seed, 0, 0,
                              kWeightStream + static_cast<std::uint32_t>(slot.parameter)};
    const auto out =
        weights.subspan(static_cast<std::size_t>(slot.first), static_cast<std::size_t>(slot.count));
    for (std::size_t e = 0; e < out.size(); ++e) {
      const float u = parameter.bound == 0 ? 0.5f : uniform(stream, e);
      out[e] = parameter.centre + parameter.bound * (2.0f * u - 1.0f);
    }
  }
}

}  // namespace gradwire::trainers
