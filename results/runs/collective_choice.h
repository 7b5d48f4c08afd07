#pragma once
#include <span>
#include <string>

#include "results/store/store.h"

/// What a collective `auto` came to: figures of a run named "auto_<collective>_s", each the
/// time of one step's exchange alone by that collective.
namespace gradwire::results {

/// The figure's name for a collective.
std::string choice_metric(const std::string& collective);

/// "collective auto took ring: a step's exchange alone takes 12.3 ms by ring, 20.1 ms by
/// tree (flow, links without loss, open windows)."; empty where nothing was chosen.
std::string choice_sentence(std::span<const MetricRow> metrics);

}  // namespace gradwire::results
