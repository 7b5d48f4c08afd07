#include "scenarios/document/problems.h"

#include <algorithm>

namespace gradwire::scenarios {
namespace {

std::string join_lines(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems)
    text += (text.empty() ? "" : "\n") + format_problem(problem);
  return text;
}

}  // namespace

ScenarioError::ScenarioError(std::vector<Problem> problems)
    : Error(ErrorKind::kScenario, join_lines(problems)), problems_(std::move(problems)) {}

std::string format_problem(const Problem& problem) {
  std::string text = problem.file;
  if (problem.line > 0) text += ":" + std::to_string(problem.line);
  if (problem.column > 0) text += ":" + std::to_string(problem.column);
  text += ": " + (problem.pointer.empty() ? std::string("/") : problem.pointer) + ": ";
  text += problem.message;
  if (!problem.allowed.empty()) text += "; allowed: " + problem.allowed;
  if (!problem.suggestion.empty()) text += "; did you mean \"" + problem.suggestion + "\"?";
  return text;
}

void ProblemList::add(Problem problem) {
  if (said_.insert(format_problem(problem)).second) problems_.push_back(std::move(problem));
}

void ProblemList::throw_if_any() const {
  if (problems_.empty()) return;
  std::vector<Problem> sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Problem& a, const Problem& b) { return a.line < b.line; });
  throw ScenarioError(std::move(sorted));
}

}  // namespace gradwire::scenarios
