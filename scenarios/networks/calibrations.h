#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/transport/tcp_constants.h"

/// Calibrations that scenarios name: one that ships, or a file of the user's own, such as
/// `gradwire calibrate` writes (a name with "/" or ending in ".json", seen from the scenario's
/// folder).
namespace gradwire::scenarios {

struct LoadedCalibration {
  sim::TcpConstants constants;  ///< "packet"'s if there is a problem
  std::string hash;             ///< of a file's bytes; empty for those that ship
  std::string problem;          ///< what is wrong, never thrown
};

/// `name` as the scenario `file` has it.
LoadedCalibration load_calibration(const std::string& name, const std::string& file);

/// Notes the hash of a calibration's file beside its path, where none is given.
void add_calibration_hash(nlohmann::ordered_json& network, const std::string& file);

/// Calls refuse(pointer, reason) for a calibration of a resolved network that is none, or another
/// than the one whose hash was noted.
void check_calibration(const nlohmann::ordered_json& network, const std::string& file,
                       const std::function<void(const std::string&, const std::string&)>& refuse);

}  // namespace gradwire::scenarios
