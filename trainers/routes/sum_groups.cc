#include "trainers/routes/sum_groups.h"

#include <algorithm>

#include "base/error.h"
#include "compressors/decorators/rules.h"
#include "trainers/routes/exchange.h"

namespace gradwire::trainers {

SumGroups::SumGroups(const compressors::Codec& codec, const Layout& layout) {
  for (const TensorSlot& slot : layout.tensors()) {
    codecs_.push_back(&compressors::chosen_codec(codec, spec_of(slot)));
    GRADWIRE_ASSERT(codecs_.back()->sum_terms() != nullptr);
    remembers_ = remembers_ || codecs_.back()->state_size(spec_of(slot)) > 0;
  }
  terms_.resize(codecs_.size());
  for (const BucketSlot& bucket : layout.buckets()) add_bucket(layout, bucket);
}

void SumGroups::add_scaled(std::size_t tensor, std::vector<ScaleGroup>& groups) const {
  const compressors::Codec* codec = codecs_[tensor];
  const auto found = std::ranges::find_if(groups, [&](const ScaleGroup& group) {
    return codec->one_scale_for_all() && codecs_[group.front()] == codec;
  });
  if (found == groups.end()) return groups.push_back({tensor});
  found->push_back(tensor);
}

void SumGroups::add_bucket(const Layout& layout, const BucketSlot& bucket) {
  std::vector<const compressors::Codec*> kinds;  // by first tensor
  std::vector<ScaleGroup>& scaled = scaled_.emplace_back();
  for (std::size_t t = bucket.first_tensor; t < bucket.end_tensor; ++t) {
    if (codecs_[t]->wants_shared_scale()) add_scaled(t, scaled);
    if (std::ranges::find(kinds, codecs_[t]) == kinds.end()) kinds.push_back(codecs_[t]);
  }
  std::vector<SumGroup>& groups = groups_.emplace_back();
  std::int64_t at = bucket.first;
  for (const compressors::Codec* kind : kinds) {
    SumGroup& group = groups.emplace_back(SumGroup{{at, 0}, kind->sum_terms()});
    for (std::size_t t = bucket.first_tensor; t < bucket.end_tensor; ++t) {
      if (codecs_[t] != kind) continue;
      terms_[t] = {at, layout.tensors()[t].count};
      at += terms_[t].count;
    }
    group.count = at - group.first;
  }
}

bool SumGroups::shares_scales() const {
  return std::ranges::any_of(scaled_, [](const auto& tensors) { return !tensors.empty(); });
}

}  // namespace gradwire::trainers
