#pragma once
#include <optional>
#include <span>
#include <string>

#include "results/store/store.h"

namespace gradwire::results {

/// What became of the clients that a run's federated rounds asked for.
struct DroppedUpdates {
  std::int64_t sampled = 0;
  std::int64_t late = 0;         ///< dropped: they were not added by the round's deadline
  std::int64_t dropped_out = 0;  ///< never heard of again
  std::int64_t arrived() const { return sampled - late - dropped_out; }
};

/// Empty where the run had no federated rounds.
std::optional<DroppedUpdates> dropped_updates_of(std::span<const MetricRow> metrics);
/// All runs' together; empty of none.
std::optional<DroppedUpdates> sum_of(std::span<const DroppedUpdates> runs);
/// "of 8 updates asked for the deadline dropped 2 (25 %), and 1 client (12.5 %) dropped out".
std::string in_words(const DroppedUpdates& updates);

}  // namespace gradwire::results
