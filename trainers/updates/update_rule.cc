#include "trainers/updates/update_rule.h"

#include "trainers/trainer_error.h"

namespace gradwire::trainers {

std::int64_t elements_of(ElementRanges ranges) {
  std::int64_t elements = 0;
  for (const ElementRange& range : ranges) elements += range.count;
  return elements;
}

std::vector<ElementRange> whole_range(const Layout& layout) {
  return {{0, layout.elements()}};
}

std::vector<ElementRange> ranges_by_dimensions(const Layout& layout, std::size_t from,
                                               std::size_t below) {
  std::vector<ElementRange> ranges;
  for (const TensorSlot& tensor : layout.tensors()) {
    if (tensor.shape.size() < from || tensor.shape.size() >= below) continue;
    if (!ranges.empty() && ranges.back().first + ranges.back().count == tensor.first)
      ranges.back().count += tensor.count;
    else
      ranges.push_back({tensor.first, tensor.count});
  }
  return ranges;
}

std::vector<PlacedTensor> tensors_in(const Layout& layout, ElementRanges ranges, const char* rule) {
  std::vector<PlacedTensor> placed;
  std::size_t t = 0;
  const auto& tensors = layout.tensors();
  visit_ranges(ranges, [&](std::int64_t first, std::int64_t offset, std::size_t count) {
    const std::int64_t end = first + static_cast<std::int64_t>(count);
    while (t < tensors.size() && tensors[t].first + tensors[t].count <= first) ++t;
    for (; t < tensors.size() && tensors[t].first < end; ++t) {
      const TensorSlot& tensor = tensors[t];
      if (tensor.first < first || tensor.first + tensor.count > end)
        throw TrainerError("update weights by " + std::string(rule), tensor.name,
                           "only a part of this tensor is given, and the rule takes norms of whole "
                           "tensors",
                           "give it whole tensors");
      placed.push_back({t, &tensor, offset + tensor.first - first});
    }
  });
  return placed;
}

}  // namespace gradwire::trainers
