#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// The one form of all benchmarks: they say what they do, and give rows of a name, a figure, and
/// the bar it is held against, and say where each figure comes from.
namespace gradwire::bench {

using Say = std::function<void(const std::string&)>;  ///< what is being done, for people

struct BenchRow {
  std::string name;  ///< dotted: flow.ring.n256.transfers_per_second
  double value = 0;
  std::string unit = {};
  std::optional<double> bar = {};
  bool at_most = true;  ///< the bar is an upper bound (else a lower one)
  /// Rows of equal, non-empty `either` stand for one demand that can be met in two ways: by all the
  /// rows that are not `alternative`, or by all those that are. Then each of them holds.
  std::string either = {};
  bool alternative = false;
  std::optional<bool> holds = {};  ///< set by judge(); empty where there is no bar, or if skipped
  /// Why it could not be measured here: then `value` says nothing, and no bar is judged.
  std::string skipped = {};
  /// "measured" by a clock here, "simulated", "emulated", "predicted" or "given"; an error has the
  /// label of what is judged. Set by labelled() where a row does not say it.
  std::string provenance = {};
};

/// The rows, with `provenance` in those that say nothing else.
std::vector<BenchRow> labelled(std::vector<BenchRow> rows, const std::string& provenance);

/// Sets `holds` of every row with a bar. True if all of them hold.
bool judge(std::vector<BenchRow>& rows);

/// {"schema_version": 1, "rows": [{"name", "value", "unit", "bar", "holds", "provenance"}, ...]}; a
/// row that was skipped has no value, and a member "skipped" that says why.
/// Precondition (assertion), here and below: every row says its provenance.
std::string rows_as_json(const std::vector<BenchRow>& rows);
/// The same as a Markdown table.
std::string rows_as_markdown(const std::vector<BenchRow>& rows);

}  // namespace gradwire::bench
