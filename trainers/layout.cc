#include "trainers/layout.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/error.h"
#include "base/philox.h"
#include "trainers/data/sampling.h"

namespace gradwire::trainers {

std::int64_t Parameter::count() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

namespace {

/// Parameters that are sent together, in backward order.
struct Group {
  std::size_t set = 0;
  std::int64_t elements = 0;
  std::vector<std::size_t> parameters;
};

std::vector<Group> groups_of(std::span<const Parameter> parameters, Bytes bucket,
                             std::span<const std::size_t> set_of) {
  std::vector<Group> groups;
  std::map<std::size_t, std::size_t> open;  // by set
  for (std::size_t p = parameters.size(); p-- > 0;) {
    const std::size_t set = set_of.empty() ? 0 : set_of[p];
    const std::int64_t count = parameters[p].count();
    const auto found = open.find(set);
    if (found == open.end() || (groups[found->second].elements + count) * 4 > bucket.count()) {
      open[set] = groups.size();
      groups.push_back({set, 0, {}});
    }
    Group& group = groups[open[set]];
    group.elements += count;
    group.parameters.push_back(p);
  }
  // The backward pass comes to the first layer's parameters last.
  std::ranges::stable_sort(groups, std::greater{},
                           [](const Group& group) { return group.parameters.back(); });
  return groups;
}

}  // namespace

Layout::Layout(std::span<const Parameter> parameters, Bytes bucket,
               std::span<const std::size_t> set_of)
    : tensor_of_(parameters.size()) {
  GRADWIRE_ASSERT(set_of.empty() || set_of.size() == parameters.size());
  for (const Group& group : groups_of(parameters, bucket, set_of)) {
    buckets_.push_back({"b" + std::to_string(buckets_.size()), tensors_.size(),
                        tensors_.size() + group.parameters.size(), elements_, group.elements,
                        group.set});
    for (const std::size_t p : group.parameters) {
      tensor_of_[p] = tensors_.size();
      tensors_.push_back({parameters[p].name, parameters[p].shape, static_cast<int>(p), elements_,
                          parameters[p].count()});
      elements_ += parameters[p].count();
    }
  }
}

Layout Layout::resized(std::span<const std::int64_t> counts) const {
  GRADWIRE_ASSERT(counts.size() == tensors_.size());
  Layout other = *this;
  other.elements_ = 0;
  for (BucketSlot& bucket : other.buckets_) {
    bucket.first = other.elements_;
    for (std::size_t t = bucket.first_tensor; t < bucket.end_tensor; ++t) {
      TensorSlot& slot = other.tensors_[t];
      slot.first = other.elements_;
      slot.count = counts[static_cast<std::size_t>(slot.parameter)];
      slot.shape = {slot.count};
      other.elements_ += slot.count;
    }
    bucket.count = other.elements_ - bucket.first;
  }
  return other;
}

void initialise(std::span<const Parameter> parameters, const Layout& layout, std::uint64_t seed,
                std::span<float> weights) {
  for (const TensorSlot& slot : layout.tensors()) {
    const Parameter& parameter = parameters[static_cast<std::size_t>(slot.parameter)];
    const RandomStream stream{seed, 0, 0,
                              kWeightStream + static_cast<std::uint32_t>(slot.parameter)};
    const auto out = slice(weights, slot);
    if (!parameter.initial.empty()) {
      GRADWIRE_ASSERT(parameter.initial.size() == out.size());
      std::ranges::copy(parameter.initial, out.begin());
      continue;
    }
    for (std::size_t e = 0; e < out.size(); ++e) {
      const float u = parameter.bound == 0 ? 0.5f : uniform(stream, e);
      out[e] = parameter.centre + parameter.bound * (2.0f * u - 1.0f);
    }
  }
}

}  // namespace gradwire::trainers
