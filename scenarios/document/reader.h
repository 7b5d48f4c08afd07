#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/document/document.h"
#include "scenarios/document/problems.h"
#include "scenarios/fields/fields.h"

/// The one reader of files that a table describes: checks every value against its row, fills in
/// defaults, and says all that is wrong.
namespace gradwire::scenarios {

/// Where a value of a run really stands: in the file, in its sweep block, or in a `--set`.
class Places {
 public:
  explicit Places(const Document& document) : document_(document) {}
  /// Values at or below `pointer` stand at `source` of the document (a sweep's value).
  void move(const std::string& pointer, const std::string& source) { moved_[pointer] = source; }
  /// Values at or below `pointer` were given by `origin`, such as --set.
  void override_at(const std::string& pointer, const std::string& origin) {
    overridden_[pointer] = origin;
  }
  /// A problem with file, line and pointer filled in.
  Problem problem(std::string_view pointer, std::string message, std::string allowed = "",
                  std::string suggestion = "") const;

 private:
  const Document& document_;
  std::map<std::string, std::string> moved_;
  std::map<std::string, std::string> overridden_;  ///< origins
};

struct ReadResult {
  nlohmann::ordered_json value;     ///< canonical: table order, defaults filled in
  std::set<std::string> bad;        ///< pointers that were refused (absent from `value`)
  std::vector<Problem> suspicious;  ///< warnings
  /// True if no value at any of these pointers was refused, so that a rule may judge them together.
  bool sound(std::initializer_list<std::string_view> pointers) const;
};

/// Reads `root` by `table`, for a workload of `kinds` (several bits: not known, fields of all of
/// them are accepted).
ReadResult read_by_table(const FieldTable& table, const nlohmann::ordered_json& root,
                         KindMask kinds, const Places& places, ProblemList& problems);

}  // namespace gradwire::scenarios
