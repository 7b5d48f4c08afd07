#include "trainers/routes/term_coder.h"

#include <algorithm>

#include "trainers/channel/framing.h"

namespace gradwire::trainers {

TermCoder::TermCoder(const ExchangeSettings& settings, const Layout& layout,
                     const SumGroups& groups)
    : settings_(settings), layout_(layout), groups_(groups) {
  for (std::size_t t = 0; t < layout.tensors().size(); ++t)
    scratch_size_ = std::max(scratch_size_, groups.codec(t).scratch_size(spec(t)));
}

compressors::TensorView TermCoder::view(std::size_t t, std::span<const float> data) const {
  const TensorSlot& slot = layout_.tensors()[t];
  return {slot.name, slot.shape, data};
}

std::span<std::byte> TermCoder::state_of(StateStore& states, int worker, std::size_t t) const {
  return states.at({worker, layout_.tensors()[t].parameter}, groups_.codec(t).state_size(spec(t)));
}

float TermCoder::scale_of(StateStore& states, int worker, std::size_t t,
                          std::span<const float> data) const {
  return groups_.codec(t).proposed_scale(view(t, data), state_of(states, worker, t),
                                         thread_scratch(scratch_size_));
}

void TermCoder::encode(StateStore& states, int worker, std::size_t t, std::span<const float> data,
                       std::int64_t step, float scale, std::span<std::uint32_t> terms) const {
  const TensorSlot& slot = layout_.tensors()[t];
  compressors::TermsJob job;
  job.tensor = view(t, data);
  job.side.shared_scale = scale;
  job.draws.stream = {settings_.seed, static_cast<std::uint32_t>(step),
                      static_cast<std::uint32_t>(worker),
                      static_cast<std::uint32_t>(slot.parameter)};
  job.state = state_of(states, worker, t);
  job.terms = terms;
  groups_.codec(t).encode_terms(job, thread_scratch(scratch_size_));
}

void TermCoder::to_values(std::size_t t, std::span<std::uint32_t> terms, float scale, float factor,
                          std::span<float> values) const {
  groups_.codec(t).sum_terms()->to_values(slice(terms, groups_.terms_of(t)),
                                          compressors::SideInputs{scale}, factor,
                                          slice(values, layout_.tensors()[t]));
}

}  // namespace gradwire::trainers
