#pragma once
#include <span>
#include <string>
#include <vector>

#include "results/store/store.h"

/// What was done otherwise than a run's scenario asked for: figures of the run named "note: TEXT".
namespace gradwire::results {

MetricRow note_row(const std::string& text);
bool is_note(const MetricRow& metric);
/// The texts, in the store's order.
std::vector<std::string> notes_of(std::span<const MetricRow> metrics);

}  // namespace gradwire::results
