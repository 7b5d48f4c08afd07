#include "trainers/updates/update.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/serial.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {

Update::Update(std::unique_ptr<const UpdateRule> rule, const Layout& layout,
               std::vector<ElementRange> ranges)
    : rule_(std::move(rule)),
      layout_(&layout),
      ranges_(std::move(ranges)),
      state_(rule_->state_size(ranges_)) {}

void Update::step(double rate, const GradientView& gradient, std::span<float> weights) {
  GRADWIRE_ASSERT(gradient.fits(*layout_) &&
                  weights.size() == static_cast<std::size_t>(layout_->elements()));
  rule_->step(*layout_, ranges_, {rate, ++steps_}, gradient, weights, state_);
}

void Update::mixed(double rate, std::span<const float> before, std::span<const float> after) {
  rule_->mixed(ranges_, {rate, steps_}, before, after, state_);
}

void Update::forget(std::int64_t element) {
  visit_ranges(ranges_, [&](std::int64_t first, std::int64_t offset, std::size_t count) {
    if (element < first || element >= first + static_cast<std::int64_t>(count)) return;
    for (const std::span<float> buffer : buffers())
      buffer[static_cast<std::size_t>(offset + element - first)] = 0;
  });
}

double Update::sum_of_momentum(std::int64_t first, std::int64_t count) const {
  double sum = 0;
  visit_ranges(ranges_, [&](std::int64_t own, std::int64_t offset, std::size_t size) {
    const std::int64_t begin = std::max(first, own);
    const std::int64_t end = std::min(first + count, own + static_cast<std::int64_t>(size));
    for (std::int64_t e = begin; e < end; ++e)
      sum += std::fabs(state_[static_cast<std::size_t>(offset + e - own)]);
  });
  return sum;
}

std::vector<std::span<float>> Update::buffers() {
  std::vector<std::span<float>> buffers;
  const std::size_t elements = rule_->buffers() == 0 ? 0 : state_.size() / rule_->buffers();
  for (std::size_t b = 0; b < rule_->buffers(); ++b)
    buffers.push_back(std::span(state_).subspan(b * elements, elements));
  return buffers;
}

void Update::save(std::ostream& out) const {
  const std::string name = rule_->name();
  put_span(out, std::span<const char>(name));
  put(out, steps_);
  put_span(out, std::span<const float>(state_));
}

void Update::load(std::istream& in) {
  const std::vector<char> name = get_vector<char>(in);
  if (std::string(name.begin(), name.end()) != rule_->name())
    throw TrainerError("load", "checkpoint",
                       "its weights were updated by " + std::string(name.begin(), name.end()) +
                           ", not by " + rule_->name(),
                       "start the run afresh");
  steps_ = get<std::int64_t>(in);
  get_into(in, state_);
}

}  // namespace gradwire::trainers
