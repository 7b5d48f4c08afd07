#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainers/layout.h"

/// Weight updates on flat buffers: a rule says how weights change with a gradient, and owns nothing
/// of a run. What it remembers is the caller's (trainers/updates/update.h holds the two together).
/// All arithmetic is in a fixed order, so results do not depend on the number of threads.
/// docs/methods/optimisers.md has the equations of all rules.
namespace gradwire::trainers {

/// Elements [first, first + count) of a layout's flat buffers.
struct ElementRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
  friend bool operator==(const ElementRange&, const ElementRange&) = default;
};

/// Ascending and disjoint.
using ElementRanges = std::span<const ElementRange>;

std::int64_t elements_of(ElementRanges ranges);
/// One range: all of the layout.
std::vector<ElementRange> whole_range(const Layout& layout);
/// The tensors whose number of dimensions is in [from, below); neighbours share a range.
std::vector<ElementRange> ranges_by_dimensions(const Layout& layout, std::size_t from,
                                               std::size_t below);

/// A gradient in the order of a layout: one flat buffer, or each of the layout's tensors where its
/// pass has left it. Refers to the memory and owns nothing.
class GradientView {
 public:
  explicit GradientView(std::span<const float> flat) : flat_(flat) {}
  /// tensors[i] is the layout's tensor i.
  explicit GradientView(std::span<const std::span<const float>> tensors) : tensors_(tensors) {}

  bool is_flat() const { return tensors_.empty(); }
  /// Of tensor `t` of the layout.
  const float* of(const Layout& layout, std::size_t t) const {
    return is_flat() ? flat_.data() + layout.tensors()[t].first : tensors_[t].data();
  }
  /// Precondition: is_flat().
  std::span<const float> flat() const { return flat_; }
  /// Whether it has the layout's size.
  bool fits(const Layout& layout) const {
    return is_flat() ? flat_.size() == static_cast<std::size_t>(layout.elements())
                     : tensors_.size() == layout.tensors().size();
  }

 private:
  std::span<const float> flat_;
  std::span<const std::span<const float>> tensors_;
};

/// What belongs to one step of a rule.
struct UpdateStep {
  double rate = 0;          ///< learning rate
  std::int64_t number = 1;  ///< of this state: 1 at the first step, for bias corrections
};

/// A rule as a device computes it, bit for bit.
struct DeviceRule {
  enum class Kernel { kSgd, kAdam };
  Kernel kernel = Kernel::kSgd;
  float momentum = 0;  ///< kSgd; 0: no velocity is kept
  float decay = 0;
  int buffers() const { return kernel == Kernel::kAdam ? 2 : momentum != 0 ? 1 : 0; }
};

class UpdateRule {
 public:
  virtual ~UpdateRule() = default;
  virtual const char* name() const = 0;
  /// Floats that it remembers of each element. A state holds them one buffer after the other.
  virtual std::size_t buffers() const = 0;
  std::size_t state_size(ElementRanges ranges) const {
    return buffers() * static_cast<std::size_t>(elements_of(ranges));
  }
  /// `gradient` and `weights` have the layout's size, of which the ranges alone are read and
  /// written; `state` has state_size(ranges), and starts as zeros. None overlaps another. Throws
  /// TrainerError where a rule with norms over tensors is given a part of one.
  virtual void step(const Layout& layout, ElementRanges ranges, const UpdateStep& at,
                    const GradientView& gradient, std::span<float> weights,
                    std::span<float> state) const = 0;
  /// Whether it looks at what neighbours made of the weights after its step (mixed()).
  virtual bool watches_mixing() const { return false; }
  /// Weights were `before` at the start of the step, and are `after` once they were mixed with
  /// those of neighbours.
  virtual void mixed(ElementRanges, const UpdateStep&, std::span<const float> /*before*/,
                     std::span<const float> /*after*/, std::span<float> /*state*/) const {}
  /// Whether the first buffer is a momentum: a mean or a sum of the gradients so far.
  virtual bool keeps_momentum() const { return buffers() > 0; }
  /// Bytes of memory that a step reads and writes for each element, 4 for each access to a float:
  /// what its time is made of, where a profile and no measurement says it.
  virtual int bytes_per_element() const = 0;
  /// Nothing where no device has it: it then runs on the host.
  virtual std::optional<DeviceRule> on_device() const { return {}; }
};

/// What of a state belongs to element 0 of buffer `buffer`, in a set of `elements`.
inline float* buffer_of(std::span<float> state, std::size_t buffer, std::int64_t elements) {
  return state.data() + buffer * static_cast<std::size_t>(elements);
}

/// Calls visit(first, offset, count) for each range: its first element in the flat buffers and in
/// the set.
template <typename Visit>
void visit_ranges(ElementRanges ranges, Visit&& visit) {
  std::int64_t offset = 0;
  for (const ElementRange& range : ranges) {
    visit(range.first, offset, static_cast<std::size_t>(range.count));
    offset += range.count;
  }
}

/// Calls visit(g, first, offset, count) for pieces of the ranges whose gradient lies in one piece
/// from g on. All of the ranges are visited, in their order.
template <typename Visit>
void visit_gradient(const Layout& layout, ElementRanges ranges, const GradientView& gradient,
                    Visit&& visit) {
  std::size_t t = 0;
  const auto& tensors = layout.tensors();
  visit_ranges(ranges, [&](std::int64_t first, std::int64_t offset, std::size_t count) {
    if (gradient.is_flat()) return visit(gradient.flat().data() + first, first, offset, count);
    const std::int64_t end = first + static_cast<std::int64_t>(count);
    for (std::int64_t at = first; at < end;) {
      while (tensors[t].first + tensors[t].count <= at) ++t;
      const std::int64_t until = std::min(end, tensors[t].first + tensors[t].count);
      visit(gradient.of(layout, t) + (at - tensors[t].first), at, offset + (at - first),
            static_cast<std::size_t>(until - at));
      at = until;
    }
  });
}

/// The tensors that lie in the ranges, each with its first element in the set. Throws TrainerError,
/// naming the tensor and `rule`, where a range ends within one.
struct PlacedTensor {
  std::size_t tensor;  ///< of the layout
  const TensorSlot* slot;
  std::int64_t offset;
};
std::vector<PlacedTensor> tensors_in(const Layout& layout, ElementRanges ranges, const char* rule);

}  // namespace gradwire::trainers
