#pragma once
#include <functional>
#include <string>
#include <vector>

#include "bench/calibration/grid.h"
#include "bench/rows/row.h"
#include "sim/transport/calibration.h"

/// `gradwire calibrate`: measures a grid with a reference, fits those of flow's constants that are
/// not rules, and says how far flow is from it before and after.
namespace gradwire::bench {

struct CalibrateOptions {
  std::string reference = "packet";  ///< or "linux"
  std::uint64_t seed = 1;
  int points = 120;                    ///< of the grid
  double time_limit_s = 600;           ///< of the reference, all points together
  double point_limit_s = 20;           ///< of the reference, one point
  std::string measurements = {};       ///< file that keeps what was measured; empty: none
  bool resume = false;                 ///< take what that file has
  std::function<bool()> stopped = {};  ///< asked between points
};

/// What the reference took at one point.
struct Measurement {
  GridPoint point;
  std::vector<double> times;      ///< s, of the transfers that count
  std::string extrapolated = {};  ///< why nothing was measured
};

struct PointError {
  std::string name;
  std::string regime;
  double reference = 0;  ///< s, the mean
  double before = 0;     ///< flow / reference - 1, with the constants that ship
  double after = 0;      ///< ... with the fitted ones
};

struct CalibrationResult {
  sim::Calibration calibration;
  std::vector<PointError> errors;         ///< of the points that were measured
  std::vector<Measurement> extrapolated;  ///< those that were not
  bool complete = true;                   ///< neither stopped nor cut off by the time limit
  bool stopped = false;                   ///< nothing was fitted
};

/// Throws Error(kCapability) where the reference cannot run here.
CalibrationResult calibrate(const CalibrateOptions& options, const Say& say);

/// Its parts.
std::vector<Measurement> measure_grid(const CalibrateOptions& options, const Reach& reach,
                                      const Say& say, bool& complete);
/// flow's mean at a point with these constants, the same draws every time.
double flow_mean(const GridPoint& point, const sim::TcpConstants& constants);
/// The constants that are fitted to a reference: numbers that its sources do not fix, or that a
/// grid can check.
std::vector<sim::ConstantField> fitted_fields(const std::string& reference);
/// Coordinate search: each constant in turn is scaled up and down while the mean over measurements
/// of min(|log(flow / reference)|, 0.5) falls. Robust: a point that is far off counts no more. A
/// value is taken only where the points' gains are twice their standard error: what a reference's
/// own scatter prefers is no finding.
sim::TcpConstants fit_constants(const std::vector<Measurement>& measured, sim::TcpConstants start,
                                const std::vector<sim::ConstantField>& fields,
                                const std::function<bool()>& stopped, const Say& say);
/// min(|log(flow / reference)|, 0.5) of each measurement that has times.
std::vector<double> robust_errors(const std::vector<Measurement>& measured,
                                  const sim::TcpConstants& constants);
double robust_error(const std::vector<Measurement>& measured, const sim::TcpConstants& constants);

std::string measurements_json(const std::vector<Measurement>& list, const CalibrateOptions& of);
/// Empty where the file is of another reference, seed or grid.
std::vector<Measurement> parse_measurements(const std::string& text, const CalibrateOptions& of);
/// A section for docs/validation: error by regime, worst cases, what is extrapolated.
std::string calibration_markdown(const CalibrationResult& result, const CalibrateOptions& options);

}  // namespace gradwire::bench
