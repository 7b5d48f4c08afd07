#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/figures/plot_geometry.h"
#include "results/store/store.h"

/// The fields of a run under the names that filters, exports and tables use. Names carry units.
namespace gradwire::results {

struct Field {
  const char* name;
  const char* help;
  Quantity quantity;  ///< how a number is shown
  /// One of the two is set.
  std::optional<double> (*number)(const RunSummary&);
  std::string (*text)(const RunSummary&);

  bool numeric() const { return number != nullptr; }
};

std::span<const Field> run_fields();
/// By name or a short form ("accuracy", "loss", "step_time", "bytes", "time_to_target",
/// "scenario"); null where there is none.
const Field* find_field(std::string_view name);
std::vector<std::string> field_names();

/// "finished"; of any other run how far it came too: "partial, 15 of 100 steps".
std::string status_in_words(const RunSummary& run);

/// As people read it: unit and three digits; "-" where missing.
std::string shown(const Field& field, const RunSummary& run);

}  // namespace gradwire::results
