#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

namespace gradwire::bench {

/// Scenarios that are smaller than this one by one thing: a field less, half the workers,
/// transfers, repetitions or bytes, fewer hosts, rounder figures. The largest steps first. Not all
/// of them can be run.
std::vector<nlohmann::ordered_json> smaller_than(const nlohmann::ordered_json& scenario);

/// Makes the scenario smaller for as long as `still_shows` says that it shows what it did, until
/// nothing smaller does. `still_shows` may say no to everything to end it.
nlohmann::ordered_json shrink(
    nlohmann::ordered_json scenario,
    const std::function<bool(const nlohmann::ordered_json&)>& still_shows);

}  // namespace gradwire::bench
