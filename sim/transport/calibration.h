#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/transport/tcp_constants.h"

/// Calibrations: the constants of tcp_constants.h as data, with where they come from. Two ship
/// (sim/transport/calibrations/*.json, part of the program): "packet" follows ns-3 3.44, "linux"
/// the kernel's TCP. `gradwire calibrate` makes others.
namespace gradwire::sim {

struct Calibration {
  std::string name;
  std::string reference;  ///< "ns-3 3.44"
  std::string date;       ///< of the measurement, YYYY-MM-DD
  std::map<std::string, std::string> versions;
  std::string how;                      ///< one or two sentences
  std::vector<std::string> fitted;      ///< names of the constants that were fitted, not read
  std::map<std::string, double> grid;   ///< of a fit: seed, points, measured, extrapolated
  std::map<std::string, double> error;  ///< of a fit, over points: |flow / reference - 1|
  TcpConstants constants;
};

/// A constant: either a number or a flag.
struct ConstantField {
  std::string_view name;  ///< as in the file; seconds end in _s
  double TcpConstants::*number = nullptr;
  bool TcpConstants::*flag = nullptr;
  double least = 0;  ///< of a number
  double most = 0;
};
std::span<const ConstantField> constant_fields();

/// {"schema_version": 1, "name", "reference", "date", "versions", "how", "fitted", "grid", "error",
/// "constants"}
/// Constants that are not named are ns-3's. Throws Error(kScenario) naming `source` and the key for
/// text that is no such object, unknown keys, and numbers out of range.
Calibration parse_calibration(std::string_view text, std::string_view source);
std::string calibration_json(const Calibration& calibration);

std::span<const std::string_view> shipped_calibrations();
/// Throws Error(kUsage) naming those that ship.
Calibration shipped_calibration(std::string_view name);
/// The shipped calibration of that name or, where none ships, the file at that path.
Calibration find_calibration(const std::string& name_or_path);

}  // namespace gradwire::sim
