#include "scenarios/checks/combinations.h"

#include <algorithm>
#include <set>

#include "scenarios/checks/combination_facts.h"

namespace gradwire::scenarios {
namespace {

using Words = std::vector<std::pair<std::string_view, std::string>>;

std::string replaced(std::string_view reason, const Words& words) {
  std::string text(reason);
  for (const auto& [word, value] : words)
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += value.size())
      text.replace(at, word.size(), value);
  return text;
}

/// The reason with the scenario's own words.
std::string filled(std::string_view reason, const Scenario& scenario) {
  return replaced(reason, {{"{schedule}", scenario.schedule.kind},
                           {"{executor}", scenario.executor},
                           {"{method}", scenario.method.name},
                           {"{optimizer}", scenario.workload.optimizer}});
}

/// The reason without a scenario.
std::string in_general(std::string_view reason) {
  return replaced(reason, {{"schedule {schedule}", "such a schedule"},
                           {"executor {executor}", "such an executor"},
                           {"method {method}", "the method"},
                           {"{method}", "the method"},
                           {"{optimizer}", "another"}});
}

bool is_sound(const Rules& rules, const Combination& row) {
  return std::ranges::all_of(row.looks_at,
                             [&](std::string_view pointer) { return rules.sound({pointer}); });
}

std::vector<std::string> met_at(const Combination& row, const Scenario& scenario) {
  try {
    return row.where(scenario);
  } catch (const Error&) {
    return {};  // a method whose options do not go together: its own check says so
  }
}

}  // namespace

std::span<const Combination> combinations() {
  static const std::vector<Combination> all = [] {
    std::vector<Combination> rows;
    for (const auto part : {combined::schedule_combinations(), combined::method_combinations(),
                            combined::executor_combinations()})
      rows.insert(rows.end(), part.begin(), part.end());
    return rows;
  }();
  return all;
}

void check_combinations(const Rules& rules) {
  std::set<std::string> refused;
  for (const Combination& row : combinations()) {
    if (!is_sound(rules, row)) continue;
    for (const std::string& pointer : met_at(row, rules.scenario))
      if (refused.insert(pointer).second)
        rules.refuse(pointer, filled(row.reason, rules.scenario), std::string(row.instead));
  }
}

std::string combinations_docs() {
  std::string page = "\n| this | with this | why not | instead |\n|---|---|---|---|\n";
  for (const Combination& row : combinations())
    page += "| " + std::string(row.one) + " | " + std::string(row.other) + " | " +
            in_general(row.reason) + " | " + std::string(row.instead) + " |\n";
  return page;
}

}  // namespace gradwire::scenarios
