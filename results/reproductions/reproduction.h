#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

/// The one form of all reproductions of published claims.
namespace gradwire::results {

/// A pass mark: what a value must lie in.
struct PassMark {
  std::optional<double> least, most;
  bool met_by(double value) const {
    return (!least || value >= *least) && (!most || value <= *most);
  }
  std::string text() const;  ///< "<= 0.03", "2.94..3.14"
};

struct ReproductionRow {
  std::string name;    ///< dotted: terngrad-chart.fitted.worst_error
  std::string method;  ///< what was held against the claim
  std::string claim;   ///< as published or as demanded
  double value = 0;
  std::string provenance;             ///< of value and spread, in words
  std::optional<double> spread = {};  ///< over seeds
  int seeds = 0;                      ///< 0 = nothing random
  std::optional<PassMark> pass_mark = {};
  /// A broken or weaker variant: it holds where its value does NOT meet the mark.
  bool negative_control = false;
  std::optional<bool> holds() const;
};

/// True if every row that has a mark holds.
bool all_hold(std::span<const ReproductionRow> rows);

}  // namespace gradwire::results
