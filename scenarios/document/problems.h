#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/scenario.h"

/// Collects everything that is wrong, so that all of it can be said at once.
namespace gradwire::scenarios {

using Problem = ScenarioError::Problem;

/// One line: `file:line: /pointer: what; allowed: ...; did you mean ...?`
std::string format_problem(const Problem& problem);

class ProblemList {
 public:
  /// Adds a problem unless the same was said before (every run of a sweep finds it again).
  void add(Problem problem);
  bool empty() const { return problems_.empty(); }
  /// Throws ScenarioError, sorted by line, if there is any problem.
  void throw_if_any() const;
  const std::vector<Problem>& all() const { return problems_; }

 private:
  std::vector<Problem> problems_;
  std::set<std::string> said_;
};

}  // namespace gradwire::scenarios
