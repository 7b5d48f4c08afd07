#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "results/report_data.h"
#include "results/student_t.h"

/// The answers in sentences.
namespace gradwire::results {
namespace {

using Groups = std::vector<const ReportGroup*>;

Groups members(const ReportData& data, const Section& section) {
  Groups groups;
  for (const std::size_t i : section.groups) groups.push_back(&data.groups[i]);
  return groups;
}

std::string number(double value, const char* format) {
  char text[40];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string times(double factor) {
  return number(factor, factor >= 10 ? "%.0f" : "%.1f");
}

/// The group with the least (or greatest) mean; null where no group has a value.
const ReportGroup* best(const Groups& groups, Statistic RunGroup::*figure, bool least) {
  const ReportGroup* chosen = nullptr;
  for (const ReportGroup* group : groups) {
    const double value = (group->group.*figure).mean;
    if (std::isnan(value)) continue;
    const double other = chosen ? (chosen->group.*figure).mean : 0;
    if (!chosen || (least ? value < other : value > other)) chosen = group;
  }
  return chosen;
}

/// Only groups of which every run got there: a mean over the lucky ones would flatter.
const ReportGroup* first_at_target(const Groups& groups) {
  Groups all_reached;
  for (const ReportGroup* group : groups)
    if (group->group.reached_target == static_cast<int>(group->group.runs.size()))
      all_reached.push_back(group);
  return best(all_reached, &RunGroup::time_to_target_s, true);
}

std::string seconds(const Statistic& value) {
  return shown(value, Quantity::kSeconds);
}

std::string base_name(const ReportData& data, const Section& section) {
  return section.has_baseline ? "without compression"
                              : "with " + data.groups[section.baseline].name;
}

std::string capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

Answer step_time_answer(const ReportData& data, const Section& section, const Groups& groups) {
  const ReportGroup& base = data.groups[section.baseline];
  Answer answer{"How long does a training step take?", ""};
  const Statistic& time = base.group.step_time_s;
  if (time.n == 0) return answer;
  answer.answer = capital(base_name(data, section)) + " a step takes " + seconds(time);
  const double total = base.split.compute_s + base.split.codec_s + base.split.exposed_s;
  if (total > 0)
    answer.answer += ", of which " + format_value(base.split.exposed_s / total, Quantity::kShare) +
                     " is communication that nothing hides";
  answer.answer += ".";
  const ReportGroup* fastest = best(groups, &RunGroup::step_time_s, true);
  if (groups.size() == 1) return answer;
  if (fastest == &base) {
    answer.answer += " Nothing else is faster.";
  } else {
    const double factor = time.mean / fastest->group.step_time_s.mean;
    answer.answer += " The shortest is " + fastest->name + " with " +
                     seconds(fastest->group.step_time_s) + ", " + times(factor) + " times as fast.";
  }
  return answer;
}

/// Half the 95 % interval of the difference of two means; NaN with fewer than two seeds each. The
/// smaller of the two degrees of freedom is taken, which never calls chance a difference too early.
double doubt(const Statistic& a, const Statistic& b) {
  if (a.n < 2 || b.n < 2) return std::numeric_limits<double>::quiet_NaN();
  const double variance = a.spread * a.spread / a.n + b.spread * b.spread / b.n;
  return student_quantile(0.975, std::min(a.n, b.n) - 1) * std::sqrt(variance);
}

std::string points(double share) {
  return number(std::abs(share) * 100, std::abs(share) >= 0.0995 ? "%.0f" : "%.1f") + " points";
}

std::string accuracy_sentence(const ReportGroup& group, const Statistic& base) {
  const Statistic& own = group.group.final_accuracy;
  const double difference = own.mean - base.mean, band = doubt(own, base);
  const std::string end = group.name + " ends at " + shown(own, Quantity::kShare);
  if (std::abs(difference) < 0.0005) return end + ", the same to a tenth of a point";
  if (std::isnan(band))
    return end + ", " + points(difference) + (difference < 0 ? " lower" : " higher") +
           " (too few seeds to tell from chance)";
  if (std::abs(difference) <= band)
    return end + ", a difference that these seeds cannot tell from chance";
  return end + ", " + points(difference) + (difference < 0 ? " lower" : " higher");
}

Answer learning_answer(const ReportData& data, const Section& section, const Groups& groups) {
  Answer answer{"Does compression still learn?", ""};
  const ReportGroup& base = data.groups[section.baseline];
  const Statistic& accuracy = base.group.final_accuracy;
  if (accuracy.n == 0) return answer;
  answer.answer = capital(base_name(data, section)) + " training ends at " +
                  shown(accuracy, Quantity::kShare) + " held-out accuracy";
  answer.answer += accuracy.n > 1
                       ? " (mean and spread over " + std::to_string(accuracy.n) + " seeds)."
                       : " (one seed).";
  std::string others;
  for (const ReportGroup* group : groups)
    if (group != &base && group->group.final_accuracy.n > 0)
      others += (others.empty() ? " " : "; ") + accuracy_sentence(*group, accuracy);
  if (!others.empty()) answer.answer += others + ".";
  return answer;
}

Answer loss_answer(const Groups& groups) {
  Answer answer{"What of the gradients was lost?", ""};
  for (const ReportGroup* group : groups) {
    if (!group->loss_of_gradients) continue;
    const std::string words = in_words(*group->loss_of_gradients);
    answer.answer += (answer.answer.empty() ? "" : " ") +
                     (groups.size() > 1 ? group->name + ": " + words : capital(words)) + ".";
  }
  return answer;
}

Answer target_answer(const ReportData& data, const Section& section, const Groups& groups) {
  const ReportGroup& base = data.groups[section.baseline];
  if (!base.group.target_accuracy) return {};
  const std::string target = number(*base.group.target_accuracy * 100, "%.4g") + " %";
  Answer answer{"Which method reaches " + target + " first?", ""};
  const ReportGroup* first = first_at_target(groups);
  if (!first) {
    answer.answer = "None did in all of its runs, within the steps that were run.";
    return answer;
  }
  answer.answer = capital(base_name(data, section)) + ", after ";
  if (first != &base) answer.answer = "With " + first->name + ": after ";
  answer.answer +=
      seconds(first->group.time_to_target_s) + " of " + first->time_provenance + " time";
  const Statistic& other = base.group.time_to_target_s;
  if (first != &base && base.group.reached_target == static_cast<int>(base.group.runs.size()))
    answer.answer += ", " + times(other.mean / first->group.time_to_target_s.mean) +
                     " times sooner than " + base_name(data, section) + " (" + seconds(other) + ")";
  answer.answer += ".";
  for (const ReportGroup* group : groups) {
    const int missed = static_cast<int>(group->group.runs.size()) - group->group.reached_target;
    if (missed > 0)
      answer.answer += " With " + group->name + " " + std::to_string(missed) + " of " +
                       std::to_string(group->group.runs.size()) + " runs did not reach it.";
  }
  return answer;
}

Answer bytes_answer(const ReportData& data, const Section& section, const Groups& groups) {
  Answer answer{"How many bytes does it save?", ""};
  const ReportGroup& base = data.groups[section.baseline];
  const ReportGroup* least = best(groups, &RunGroup::wire_bytes, true);
  if (!least || base.group.wire_bytes.n == 0) return {};
  const auto total = [](const ReportGroup& g) {
    return format_value(g.group.wire_bytes.mean, Quantity::kBytes);
  };
  answer.answer = capital(base_name(data, section)) + " a run puts " + total(base) + " on the wire";
  if (least == &base) {
    answer.answer += groups.size() > 1 ? "; no method sends less." : ".";
    return answer;
  }
  const double share = least->group.wire_bytes.mean / base.group.wire_bytes.mean;
  answer.answer += ". The least is " + total(*least) + " with " + least->name + ": " +
                   format_value(share, Quantity::kShare) + " of that, " + times(1 / share) +
                   " times less.";
  return answer;
}

}  // namespace

std::vector<Answer> answers(const ReportData& data, const Section& section) {
  const Groups groups = members(data, section);
  std::vector<Answer> result = {step_time_answer(data, section, groups),
                                learning_answer(data, section, groups), loss_answer(groups),
                                target_answer(data, section, groups),
                                bytes_answer(data, section, groups)};
  std::erase_if(result, [](const Answer& answer) { return answer.answer.empty(); });
  return result;
}

std::vector<std::vector<std::string>> winners_table(const ReportData& data) {
  if (data.sections.size() < 2) return {};
  std::vector<std::vector<std::string>> table = {
      {"condition", "shortest step", "first at the target", "best final accuracy", "fewest bytes"}};
  for (const Section& section : data.sections) {
    const Groups groups = members(data, section);
    const auto cell = [](const ReportGroup* group, const Statistic& value, Quantity quantity) {
      return group->name + " (" + format_value(value.mean, quantity) + ")";
    };
    std::vector<std::string> row = {section.label, "-", "-", "-", "-"};
    if (const auto* g = best(groups, &RunGroup::step_time_s, true))
      row[1] = cell(g, g->group.step_time_s, Quantity::kSeconds);
    if (const auto* g = first_at_target(groups))
      row[2] = cell(g, g->group.time_to_target_s, Quantity::kSeconds);
    if (const auto* g = best(groups, &RunGroup::final_accuracy, false))
      row[3] = cell(g, g->group.final_accuracy, Quantity::kShare);
    if (const auto* g = best(groups, &RunGroup::wire_bytes, true))
      row[4] = cell(g, g->group.wire_bytes, Quantity::kBytes);
    table.push_back(std::move(row));
  }
  return table;
}

}  // namespace gradwire::results
