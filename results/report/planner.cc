#include "results/report/planner.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <set>

#include "results/report/choice.h"
#include "results/runs/difference.h"
#include "results/runs/scenario_view.h"

namespace gradwire::results {
namespace {

/// A condition, or several that get one answer.
struct Taken {
  const ReportGroup* group = nullptr;  ///< null: nothing can be recommended
  const ReportGroup* base = nullptr;   ///< without compression; null: none was run
  std::string condition, reason;       ///< why nothing is
  bool only = false;                   ///< of what may be sent, nothing else was run
};
using Takens = std::vector<Taken>;

std::string printed_as(const char* text, double value) {
  char out[48];
  std::snprintf(out, sizeof out, text, value);
  return out;
}

void add_words(std::string& list, const std::string& words, const char* separator = "; ") {
  if (!words.empty()) list += (list.empty() ? "" : separator) + words;
}

/// "4", "2 to 16": of the numbers that are finite; empty without any.
template <class Text>
std::string range_words(const std::vector<double>& values, Text text) {
  const Statistic all = statistic(values);
  if (all.n == 0) return "";
  const std::string low = text(all.least), high = text(all.greatest);
  return low == high ? low : low + " to " + high;
}

std::string range_words(const std::vector<double>& values, Quantity quantity) {
  return range_words(values, [=](double value) { return format_value(value, quantity); });
}

template <class Value>
std::vector<double> values_of(const Takens& all, Value value) {
  std::vector<double> values;
  for (const Taken& taken : all) values.push_back(value(taken));
  return values;
}

/// "20 ms" of "20.0 ms": what a scenario gives was not measured to three digits.
std::string given(double value, Quantity quantity) {
  const std::string text = format_value(value, quantity);
  const std::size_t space = std::min(text.find(' '), text.size());
  std::string digits = text.substr(0, space);
  if (digits.find('.') != std::string::npos) {
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.ends_with('.')) digits.pop_back();
  }
  return digits + text.substr(space);
}

/// Mean and spread of one condition, a range over several.
std::string figure_words(const Takens& all, Statistic RunGroup::*member, Quantity quantity) {
  if (all.size() == 1) {
    const Statistic& only = all[0].group->group.*member;
    return only.n == 0 ? "" : shown(only, quantity);
  }
  return range_words(values_of(all, [&](const Taken& t) { return (t.group->group.*member).mean; }),
                     quantity);
}

std::string workers_words(const Takens& all, const ReportData& data) {
  std::set<int> run;
  for (const ReportGroup& group : data.groups) run.insert(header_of(group).workers);
  const std::string taken = range_words(
      values_of(all, [](const Taken& t) { return double(header_of(*t.group).workers); }),
      [](double n) { return printed_as("%.0f", n); });
  return run.size() > 1 ? taken : taken + " (no other number was run)";
}

std::string link_words(const Takens& all) {
  const auto part = [&](const char* pointer, Quantity quantity) {
    return range_words(
        values_of(all,
                  [&](const Taken& t) {
                    double value = std::nan("");
                    number_from(scenario_value(header_of(*t.group).scenario_json, pointer), value);
                    return value;
                  }),
        [=](double value) { return given(value, quantity); });
  };
  std::string words = part("/network/link/bandwidth", Quantity::kBitRate);
  if (words.empty())
    return scenario_value(header_of(*all[0].group).scenario_json, "/network/topology");
  add_words(words, part("/network/link/delay", Quantity::kSeconds), ", ");
  const std::string loss = part("/network/link/loss", Quantity::kShare);
  return words + (loss.empty() ? "" : ", " + loss + " lost");
}

std::string method_words(const Takens& all) {
  const Taken& first = all[0];
  if (!first.only) return first.group->name;
  const std::string& method = header_of(*first.group).method;
  return (is_uncompressed(method) ? "no compression" : method) + " (nothing else was run)";
}

/// "14.6 ms a step, 3.66 times as fast as without compression"
std::string time_words(const Takens& all) {
  std::string words = figure_words(all, &RunGroup::step_time_s, Quantity::kSeconds);
  if (words.empty()) return "-";
  words += all[0].group->updates ? " a round" : " a step";
  if (!std::ranges::all_of(all, [](const Taken& t) {
        return t.base && t.base != t.group && steps_compare({t.base, t.group});
      }))
    return words;
  const auto factor = [](const Taken& t) {
    return t.base->group.step_time_s.mean / t.group->group.step_time_s.mean;
  };
  return words + ", " +
         range_words(values_of(all, factor),
                     [](double times) { return printed_as(times < 10 ? "%.2f" : "%.1f", times); }) +
         " times as fast as uncompressed";
}

std::string target_words(const Taken& taken) {
  const RunGroup& group = taken.group->group;
  if (!group.target_accuracy) return "";
  const std::string target = printed_as("%.4g %%", 100 * *group.target_accuracy);
  if (group.reached_target < static_cast<int>(group.runs.size())) return target + " not reached";
  return target + " after " + shown(group.time_to_target_s, Quantity::kSeconds);
}

std::string accuracy_words(const Takens& all) {
  const Taken& first = all[0];
  std::string words = figure_words(all, &RunGroup::final_accuracy, Quantity::kShare);
  if (words.empty()) words = "not trained here";
  if (all.size() > 1) return words;
  if (first.group->updates) add_words(words, in_words(*first.group->updates));
  if (first.base && first.base != first.group && first.base->group.final_accuracy.n > 0)
    words += " (uncompressed " + shown(first.base->group.final_accuracy, Quantity::kShare) + ")";
  add_words(words, target_words(first));
  return words;
}

/// Workers times seconds, of a group's whole run or until its target.
std::string worker_time(double seconds) {
  return seconds < 360 ? printed_as("%.3g", seconds) + " worker-s"
                       : printed_as("%.3g", seconds / 3600) + " worker-h";
}

double price_of_run(const ReportGroup& group, const Prices& prices) {
  const RunGroup& runs = group.group;
  const double hours = header_of(group).workers * runs.simulated_s.mean / 3600;
  return hours * (prices.gpu_hour + prices.ports_per_worker * prices.port_hour) +
         runs.wire_bytes.mean / 1e9 * prices.gigabyte;
}

std::string cost_words(const Takens& all, const CostOptions& costs) {
  std::string words;
  const ReportGroup& first = *all[0].group;
  const bool reached = all.size() == 1 && first.group.target_accuracy &&
                       first.group.reached_target == static_cast<int>(first.group.runs.size());
  if (reached)
    add_words(words, worker_time(header_of(first).workers * first.group.time_to_target_s.mean) +
                         " to " + printed_as("%.4g %%", 100 * *first.group.target_accuracy));
  std::string run;
  if (!first.updates)  // in a round a sample of the clients works, and waits for the others
    add_words(run, range_words(values_of(all,
                                         [](const Taken& t) {
                                           return header_of(*t.group).workers *
                                                  t.group->group.simulated_s.mean;
                                         }),
                               worker_time));
  add_words(run, figure_words(all, &RunGroup::wire_bytes, Quantity::kBytes), ", ");
  if (costs.prices.any())
    add_words(run,
              costs.currency + " " +
                  range_words(values_of(all,
                                        [&](const Taken& t) {
                                          return price_of_run(*t.group, costs.prices);
                                        }),
                              [](double price) { return printed_as("%.3g", price); }),
              ", ");
  add_words(words, run.empty() ? "" : "a run " + run);
  return words.empty() ? "-" : words;
}

std::string seeds_words(const Takens& all) {
  const std::string n =
      range_words(values_of(all, [](const Taken& t) { return double(t.group->group.runs.size()); }),
                  [](double seeds) { return printed_as("%.0f", seeds); });
  return n == "1" ? "one seed" : n + " seeds";
}

std::string accuracy_doubt(const Takens& all) {
  const ReportGroup& group = *all[0].group;
  if (all[0].only || all[0].base == &group) return "";
  if (all.size() > 1) {
    std::string marks;
    for (const Taken& taken : all)
      if (const std::string mark = accuracy_mark(*taken.group);
          marks.find(mark) == std::string::npos)
        add_words(marks, mark, ", ");
    return marks;
  }
  std::string words = accuracy_mark(group);
  if (!all[0].base) return words;
  const Statistic &own = group.group.final_accuracy, &base = all[0].base->group.final_accuracy;
  if (own.n == 0 || base.n == 0) return words;
  words += ": " + signed_in_points(own.mean - base.mean) + " points";
  const double half = doubt(own, base);
  return words + (std::isnan(half) ? "" : " (\u00b1 " + printed_as("%.1f", 100 * half) + ")");
}

std::string uncertain_words(const Takens& all) {
  const ReportGroup& first = *all[0].group;
  std::string words = accuracy_doubt(all);
  add_words(words, seeds_words(all));
  add_words(words, first.time_provenance + " times");
  const std::string& compute = header_of(first).compute_provenance;
  if (compute == "profile") add_words(words, "compute times of a profile");
  if (compute == "given") add_words(words, "compute times as given");
  return words;
}

PlannerLine line_of(const Takens& all, std::size_t conditions, const ReportData& data) {
  PlannerLine line;
  if (conditions > 1)
    line.conditions = all.size() == 1            ? all[0].condition
                      : all.size() == conditions ? std::to_string(conditions) + " conditions"
                                                 : std::to_string(all.size()) + " of " +
                                                       std::to_string(conditions) + " conditions";
  if (!all[0].group) {
    line.method = all[0].reason;
    line.workers = line.link = line.time = line.accuracy = line.cost = line.uncertain = "-";
    return line;
  }
  line.workers = workers_words(all, data);
  line.link = link_words(all);
  line.method = method_words(all);
  line.time = time_words(all);
  line.accuracy = accuracy_words(all);
  line.cost = cost_words(all, data.costs);
  line.uncertain = uncertain_words(all);
  return line;
}

/// What there is to take under each condition.
Takens taken_of(const ReportData& data) {
  Takens all;
  for (const Section& section : data.sections) {
    const Groups groups = members(data, section);
    if (one_choice(groups)) {
      for (const ReportGroup* group : groups)
        all.push_back({group, nullptr, groups.size() > 1 ? group->name : section.label, "", true});
      continue;
    }
    const ReportGroup* base = section.has_baseline ? &data.groups[section.baseline] : nullptr;
    if (base && base->group.diverged > 0) base = nullptr;
    const ReportGroup* group = recommended(data, section);
    all.push_back({group, base, section.label, group ? "" : why_none(groups), false});
  }
  return all;
}

}  // namespace

std::vector<PlannerLine> planner_lines(const ReportData& data, std::size_t most) {
  const Takens all = taken_of(data);
  std::vector<Takens> lines;
  for (const Taken& taken : all) {
    const auto name = [](const Taken& t) {
      return !t.group ? t.reason : t.only ? header_of(*t.group).method : t.group->name;
    };
    const auto same = std::ranges::find_if(lines, [&](const Takens& line) {
      return all.size() > most && name(line[0]) == name(taken) && !line[0].group == !taken.group;
    });
    if (same == lines.end())
      lines.push_back({taken});
    else
      same->push_back(taken);
  }
  std::ranges::stable_sort(lines, std::greater(), &Takens::size);
  std::vector<PlannerLine> result;
  for (const Takens& line : lines) result.push_back(line_of(line, all.size(), data));
  return result;
}

}  // namespace gradwire::results
