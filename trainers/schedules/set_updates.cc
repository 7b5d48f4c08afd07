#include "trainers/schedules/set_updates.h"

#include <algorithm>

#include "base/error.h"
#include "trainers/scenario_update.h"
#include "trainers/updates/shards.h"

namespace gradwire::trainers {
namespace {

/// The elements of each set that the layout has, neighbouring buckets as one range.
std::map<std::size_t, std::vector<ElementRange>> ranges_of_sets(const Layout& layout) {
  std::map<std::size_t, std::vector<ElementRange>> sets;
  for (const BucketSlot& bucket : layout.buckets()) {
    std::vector<ElementRange>& ranges = sets[bucket.set];
    if (!ranges.empty() && ranges.back().first + ranges.back().count == bucket.first)
      ranges.back().count += bucket.count;
    else
      ranges.push_back({bucket.first, bucket.count});
  }
  return sets;
}

}  // namespace

SetUpdates::SetUpdates(const scenarios::Scenario& scenario, const methods::Method& method,
                       const Layout& layout)
    : of_phase_(method.phases()) {
  const int ranks = state_parts(scenario);
  for (int rank = 0; rank < ranks; ++rank)
    add(scenario, method, layout, rank, shard_of(layout, rank, ranks));
}

void SetUpdates::add(const scenarios::Scenario& scenario, const methods::Method& method,
                     const Layout& layout, int rank, ElementRanges shard) {
  for (const auto& [set, ranges] : ranges_of_sets(layout)) {
    for (std::size_t phase = 0; phase < method.phases(); ++phase) {
      const bool momentum = method.plan(set, phase).update_momentum;
      const Key key{rank, set, momentum};
      auto found = updates_.find(key);
      if (found == updates_.end())
        found = updates_
                    .try_emplace(key, make_update_rule(update_settings(scenario, momentum)), layout,
                                 common_ranges(ranges, shard))
                    .first;
      of_phase_[phase].push_back(&found->second);
    }
  }
}

void SetUpdates::step(std::size_t phase, double rate, const GradientView& gradient,
                      std::span<float> weights) {
  for (Update* update : of_phase_[phase]) update->step(rate, gradient, weights);
}

bool SetUpdates::watches_mixing() const {
  return std::ranges::any_of(updates_,
                             [](const auto& each) { return each.second.rule().watches_mixing(); });
}

void SetUpdates::mixed(std::size_t phase, double rate, std::span<const float> before,
                       std::span<const float> after) {
  for (Update* update : of_phase_[phase]) update->mixed(rate, before, after);
}

Update& SetUpdates::only() {
  GRADWIRE_ASSERT(updates_.size() == 1);
  return updates_.begin()->second;
}

const Update& SetUpdates::only() const {
  GRADWIRE_ASSERT(updates_.size() == 1);
  return updates_.begin()->second;
}

void SetUpdates::forget(std::int64_t element) {
  for (auto& [set, update] : updates_) update.forget(element);
}

std::optional<double> SetUpdates::mean_momentum(std::int64_t first, std::int64_t count) const {
  double sum = 0;
  for (const auto& [key, update] : updates_) {
    if (!update.rule().keeps_momentum()) return {};
    sum += update.sum_of_momentum(first, count);
  }
  return sum / static_cast<double>(count);
}

std::int64_t SetUpdates::state_bytes() const {
  std::map<int, std::int64_t> bytes;  // by rank
  for (const auto& [key, update] : updates_) bytes[std::get<0>(key)] += update.state_bytes();
  std::int64_t most = 0;
  for (const auto& [rank, held] : bytes) most = std::max(most, held);
  return most;
}

void SetUpdates::save(std::ostream& out) const {
  for (const auto& [key, update] : updates_) update.save(out);
}

void SetUpdates::load(std::istream& in) {
  for (auto& [key, update] : updates_) update.load(in);
}

}  // namespace gradwire::trainers
