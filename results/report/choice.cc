#include "results/report/choice.h"

#include <algorithm>
#include <cmath>

#include "results/advice/choice.h"
#include "results/prediction/stored_summary.h"
#include "results/runs/difference.h"
#include "results/runs/scenario_view.h"

namespace gradwire::results {
namespace {

/// The section's own comparisons, where it has the label; else all that are known.
AccuracyKnowledge knowledge_for(const ReportData& data, const Section& section,
                                const std::string& label) {
  std::vector<RunSummary> runs;
  for (const ReportGroup* group : members(data, section))
    runs.insert(runs.end(), group->group.runs.begin(), group->group.runs.end());
  AccuracyKnowledge knowledge = data.accuracy;
  const auto own = accuracy_comparisons(runs);
  if (std::ranges::find(own, label, &AccuracyComparison::method) != own.end())
    knowledge.trained = own;
  return knowledge;
}

Option option_of(const ReportGroup& group) {
  const Statistic& time = group.group.step_time_s;
  const std::string method = method_of_scenario(header_of(group).scenario_json);
  const double half = doubt(time, time) / std::sqrt(2);  // of one mean: that of two equal ones is
  return {baseline_of(method),
          time.mean,
          std::isnan(half) ? 0 : half,
          group.message_bytes,
          group.evidence,
          group.name,
          method};
}

/// Groups whose step times say which to take.
Groups comparable(const ReportData& data, const Section& section) {
  const Groups all = members(data, section);
  if (!steps_compare(all) || one_choice(all)) return {};
  Groups timed = that_learned(all);
  std::erase_if(timed, [](const ReportGroup* group) {
    return group->group.step_time_s.n == 0 || !(group->group.step_time_s.mean > 0);
  });
  return timed;
}

std::vector<Option> options_of(const ReportData& data, const Section& section) {
  std::vector<Option> options;
  for (const ReportGroup* group : comparable(data, section)) options.push_back(option_of(*group));
  return options;
}

const ReportGroup* first_at_target(const Groups& groups) {
  const ReportGroup* first = nullptr;
  for (const ReportGroup* group : that_learned(groups)) {
    const RunGroup& own = group->group;
    if (own.reached_target < static_cast<int>(own.runs.size())) continue;
    if (!group->evidence.may_be_recommended()) continue;
    if (!first || own.time_to_target_s.mean < first->group.time_to_target_s.mean) first = group;
  }
  return first;
}

bool by_chance(const Statistic& a, const Statistic& b) {
  return std::abs(a.mean - b.mean) <= doubt(a, b);  // false where the doubt is not known
}

}  // namespace

Groups members(const ReportData& data, const Section& section) {
  Groups groups;
  for (const std::size_t i : section.groups) groups.push_back(&data.groups[i]);
  return groups;
}

bool one_choice(const Groups& groups) {
  const auto transport = [](const ReportGroup* group) {
    return scenario_value(header_of(*group).scenario_json, "/network/transport/protocol");
  };
  return std::ranges::all_of(groups, [&](const ReportGroup* group) {
    return group->group.method == groups.front()->group.method &&
           transport(group) == transport(groups.front());
  });
}

Groups that_learned(const Groups& groups) {
  Groups learned;
  for (const ReportGroup* group : groups)
    if (group->group.diverged == 0) learned.push_back(group);
  return learned;
}

std::string diverged_words(const Groups& groups) {
  std::string words;
  for (const ReportGroup* group : groups) {
    const auto all = static_cast<int>(group->group.runs.size());
    if (group->group.diverged == 0) continue;
    const std::string runs = std::to_string(all) + " runs";
    words +=
        (words.empty() ? "" : ", ") + group->name + " (" +
        (all == 1                       ? "its run"
         : group->group.diverged == all ? "all " + runs
                                        : std::to_string(group->group.diverged) + " of " + runs) +
        ")";
  }
  return words;
}

bool steps_compare(const Groups& groups) {
  return std::ranges::all_of(groups, [](const ReportGroup* group) {
    const std::string& json = header_of(*group).scenario_json;
    const auto says = [&](const char* pointer, const char* usual) {
      const std::string text = scenario_value(json, pointer);
      return text.empty() || text == "-" || text == usual;
    };
    return says("/schedule/kind", "lockstep") && says("/schedule/local_steps", "1");
  });
}

void add_evidence(const Store& store, ReportData& data) {
  for (const Section& section : data.sections)
    for (const std::size_t i : section.groups) {
      const RunHeader& header = header_of(data.groups[i]);
      if (const auto step = stored_summary(store.metrics(data.groups[i].group.runs.front().id)))
        data.groups[i].message_bytes = step->message_bytes();
      data.groups[i].evidence =
          evidence_of(knowledge_for(data, section, header.method), header.method,
                      method_of_scenario(header.scenario_json), header.model);
    }
}

bool same_step_time(const ReportGroup& a, const ReportGroup& b) {
  return as_fast(option_of(a), option_of(b));
}

bool same_time_to_target(const ReportGroup& a, const ReportGroup& b) {
  const double apart = std::abs(a.group.time_to_target_s.mean - b.group.time_to_target_s.mean);
  return apart <= std::max(evaluation_interval_s(a), evaluation_interval_s(b)) ||
         by_chance(a.group.time_to_target_s, b.group.time_to_target_s);
}

bool same_accuracy(const ReportGroup& a, const ReportGroup& b) {
  const Statistic &one = a.group.final_accuracy, &other = b.group.final_accuracy;
  return std::abs(one.mean - other.mean) < 0.0005 || by_chance(one, other);
}

double evaluation_interval_s(const ReportGroup& group) {
  const std::vector<double>& times = group.accuracy.time_s;
  if (times.size() < 2) return 0;
  return (times.back() - times.front()) / static_cast<double>(times.size() - 1);
}

std::string accuracy_mark(const ReportGroup& group) {
  switch (group.evidence.standing) {
    case Standing::kKeeps:
      return "accuracy kept";
    case Standing::kUnclear:
      return "accuracy unclear";
    case Standing::kUnknown:
      return "accuracy unknown";
    case Standing::kLoses:
      return "loses accuracy";
  }
  return "";
}

Answer choice_answer(const ReportData& data, const Section& section) {
  const auto options = options_of(data, section);
  const std::string diverged = diverged_words(members(data, section));
  const std::string question = "What should be sent?";
  if (options.size() < 2 && !diverged.empty())
    return {question, "Nothing is recommended: training diverged with " + diverged + "."};
  if (options.size() < 2) return {};
  std::string text = recommendation(choose(options), options, "", data.accuracy.tolerance);
  if (!diverged.empty()) text += " Left out, since training diverged: " + diverged + ".";
  return {question, text};
}

const ReportGroup* recommended(const ReportData& data, const Section& section) {
  const Groups all = members(data, section), groups = comparable(data, section);
  if (groups.size() < 2)
    return steps_compare(all) || one_choice(all) ? nullptr : first_at_target(all);
  const Choice choice = choose(options_of(data, section));
  return choice.chosen ? groups[*choice.chosen] : nullptr;
}

std::string why_none(const Groups& groups) {
  if (!diverged_words(groups).empty()) return "none: training diverged";
  return one_choice(groups) ? "-" : "none of them";
}

std::string choice_cell(const ReportData& data, const Section& section) {
  const ReportGroup* group = recommended(data, section);
  return group ? group->name : why_none(members(data, section));
}

Groups compared_groups(const ReportData& data) {
  Groups groups;
  for (const Section& section : data.sections) {
    const Groups all = members(data, section);
    const ReportGroup* chosen = recommended(data, section);
    for (const ReportGroup* group : all)
      if (group == chosen || one_choice(all) || group == &data.groups[section.baseline])
        groups.push_back(group);
  }
  return groups;
}

}  // namespace gradwire::results
