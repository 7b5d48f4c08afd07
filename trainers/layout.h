#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"

/// Where each tensor of a model lies in the flat buffers for weights, gradients and optimiser
/// state.
namespace gradwire::trainers {

/// One trainable tensor, in the order in which the forward pass uses it.
struct Parameter {
  std::string name;
  std::vector<std::int64_t> shape;
  /// Initial values: centre + bound * u, u uniform in [-1, 1) from Philox.
  float centre = 0;
  float bound = 0;
  std::vector<float> initial = {};  ///< not empty: these instead
  bool whole_layer = false;         ///< stands for a layer whose tensors are not known
  std::int64_t count() const;
};

struct TensorSlot {
  std::string name;
  std::vector<std::int64_t> shape;
  int parameter = 0;       ///< its number in forward order; also the codec's tensor id
  std::int64_t first = 0;  ///< in the flat buffer
  std::int64_t count = 0;
};

/// What is sent together: tensors [first_tensor, end_tensor), elements [first, first + count).
struct BucketSlot {
  std::string name;
  std::size_t first_tensor = 0;
  std::size_t end_tensor = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::size_t set = 0;  ///< of tensors that a method treats alike
  std::size_t tensors() const { return end_tensor - first_tensor; }
};

/// The elements of a tensor, a bucket or another range in a flat buffer.
template <typename Values, typename Range>
auto slice(Values&& values, const Range& range) {
  return std::span(values).subspan(static_cast<std::size_t>(range.first),
                                   static_cast<std::size_t>(range.count));
}

/// Tensors in backward order (the last layer's gradient is ready first), cut into buckets: a tensor
/// joins the open bucket of its set unless that would then exceed `bucket` bytes of fp32; a larger
/// tensor has a bucket of its own. Buckets stand in the order in which their last gradients are
/// ready, and flat buffers follow them: a bucket is one contiguous range.
class Layout {
 public:
  Layout() = default;
  /// `set_of[p]`: the set of parameter p; empty: all are of set 0.
  Layout(std::span<const Parameter> parameters, Bytes bucket,
         std::span<const std::size_t> set_of = {});

  /// The same tensors and buckets with so many elements, by parameter, each tensor as one row.
  Layout resized(std::span<const std::int64_t> counts) const;

  const std::vector<TensorSlot>& tensors() const { return tensors_; }
  const std::vector<BucketSlot>& buckets() const { return buckets_; }
  std::int64_t elements() const { return elements_; }
  /// Number among tensors() of parameter `parameter` (in forward order).
  std::size_t tensor_of(int parameter) const {
    return tensor_of_[static_cast<std::size_t>(parameter)];
  }

 private:
  std::vector<TensorSlot> tensors_;
  std::vector<BucketSlot> buckets_;
  std::vector<std::size_t> tensor_of_;  ///< by parameter
  std::int64_t elements_ = 0;
};

/// weights[layout.elements()] = initial values; tensor p draws from stream kWeightStream + p.
void initialise(std::span<const Parameter> parameters, const Layout& layout, std::uint64_t seed,
                std::span<float> weights);

}  // namespace gradwire::trainers
