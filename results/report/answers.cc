#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/joined_texts.h"
#include "results/report/choice.h"
#include "results/runs/difference.h"

/// The answers in sentences.
namespace gradwire::results {
namespace {

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
Groups that_reached(const Groups& groups) {
  Groups all_reached;
  for (const ReportGroup* group : groups)
    if (group->group.reached_target == static_cast<int>(group->group.runs.size()))
      all_reached.push_back(group);
  return all_reached;
}

/// The groups with a value that `same` cannot tell from the winner's, the winner too.
Groups no_worse(const Groups& groups, const ReportGroup& winner,
                bool (*same)(const ReportGroup&, const ReportGroup&), Statistic RunGroup::*figure) {
  Groups equal;
  for (const ReportGroup* group : groups)
    if (group == &winner || ((group->group.*figure).n > 0 && same(*group, winner)))
      equal.push_back(group);
  return equal;
}

std::string names_of(const Groups& groups) {
  return joined_texts(groups, ", ", &ReportGroup::name);
}

/// " No difference: qsgd, int8."
std::string no_difference_from(Groups equal, const ReportGroup& winner) {
  std::erase(equal, &winner);
  return equal.empty() ? "" : " No difference from it: " + names_of(equal) + ".";
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
  const std::string step = base.updates ? "round" : "step";
  Answer answer{"How long does a " + step + " take?", ""};
  const Statistic& time = base.group.step_time_s;
  if (time.n == 0) return answer;
  answer.answer = capital(base_name(data, section)) + " a " + step + " takes " + seconds(time);
  if (base.split.exposed_s > 0 && time.mean > 0)
    answer.answer += ", of which " +
                     format_value(base.split.exposed_s / time.mean, Quantity::kShare) +
                     " is exposed communication";
  if (one_choice(groups)) {
    for (const ReportGroup* group : groups)
      if (group != &base)
        answer.answer += "; with " + group->name + " " + seconds(group->group.step_time_s);
    answer.answer += ".";
    return answer;
  }
  answer.answer += ".";
  if (!steps_compare(groups)) {
    answer.answer +=
        " Here steps of different schedules hold different numbers of samples: the "
        "time to the target compares them, their lengths do not.";
    return answer;
  }
  const ReportGroup* fastest = best(groups, &RunGroup::step_time_s, true);
  const Groups shortest = no_worse(groups, *fastest, same_step_time, &RunGroup::step_time_s);
  if (std::ranges::find(shortest, &base) != shortest.end()) {
    answer.answer += " Nothing else is faster by more than 3 % or the seeds' spread.";
  } else {
    const double factor = time.mean / fastest->group.step_time_s.mean;
    answer.answer += " The shortest is " + fastest->name + " with " +
                     seconds(fastest->group.step_time_s) + ", " + times(factor) +
                     " times as fast (" + accuracy_mark(*fastest) + ")." +
                     no_difference_from(shortest, *fastest);
  }
  return answer;
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
  Answer answer{
      one_choice(groups) ? "What accuracy does it reach?" : "Does compression still learn?", ""};
  const ReportGroup& base = data.groups[section.baseline];
  const Statistic& accuracy = base.group.final_accuracy;
  const std::string diverged = diverged_words(groups);
  if (!diverged.empty()) answer.answer = "Training diverged with " + diverged + ".";
  if (accuracy.n == 0 || base.group.diverged > 0) return answer;
  if (!diverged.empty()) answer.answer += " ";
  answer.answer += capital(base_name(data, section)) + " training ends at " +
                   shown(accuracy, Quantity::kShare) + " held-out accuracy";
  answer.answer += accuracy.n > 1
                       ? " (mean and spread over " + std::to_string(accuracy.n) + " seeds)."
                       : " (one seed).";
  std::string others;
  for (const ReportGroup* group : groups)
    if (group != &base && group->group.final_accuracy.n > 0 && group->group.diverged == 0)
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

/// Who was first at the target; nobody, where evaluations are too far apart or seeds differ too
/// much to say.
std::string first_words(const ReportData& data, const Section& section, const ReportGroup& first,
                        const Groups& equal) {
  const ReportGroup& base = data.groups[section.baseline];
  const Statistic &time = first.group.time_to_target_s, &other = base.group.time_to_target_s;
  const std::string after = "after " + seconds(time) + " of " + first.time_provenance + " time";
  if (equal.size() > 1 && std::ranges::find(equal, &base) != equal.end())
    return "No difference: " + names_of(equal) + " reach it " + after +
           ", within the time between two evaluations (" +
           format_value(evaluation_interval_s(first), Quantity::kSeconds) +
           ") or the seeds' spread of each other.";
  if (&first == &base) return capital(base_name(data, section)) + ", " + after + ".";
  std::string text = "With " + first.name + ": " + after;
  if (base.group.reached_target == static_cast<int>(base.group.runs.size()))
    text += ", " + times(other.mean / time.mean) + " times sooner than " +
            base_name(data, section) + " (" + seconds(other) + ")";
  return text + " (" + accuracy_mark(first) + ")." + no_difference_from(equal, first);
}

Answer updates_answer(const Groups& groups) {
  Answer answer{"How many updates did the rounds lose?", ""};
  for (const ReportGroup* group : groups) {
    if (!group->updates) continue;
    const std::string words = in_words(*group->updates);
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
  const Groups reached = that_reached(groups);
  const ReportGroup* first = best(reached, &RunGroup::time_to_target_s, true);
  if (!first) {
    answer.answer = "None did in all of its runs, within the steps that were run.";
    return answer;
  }
  const Groups equal = no_worse(reached, *first, same_time_to_target, &RunGroup::time_to_target_s);
  answer.answer = first_words(data, section, *first, equal);
  for (const ReportGroup* group : groups) {
    const int missed = static_cast<int>(group->group.runs.size()) - group->group.reached_target;
    if (missed > 0)
      answer.answer += " With " + group->name + " " + std::to_string(missed) + " of " +
                       std::to_string(group->group.runs.size()) + " runs did not reach it.";
  }
  return answer;
}

Answer bytes_answer(const ReportData& data, const Section& section, const Groups& groups) {
  Answer answer{
      one_choice(groups) ? "How many bytes does it send?" : "How many bytes does it save?", ""};
  const ReportGroup& base = data.groups[section.baseline];
  const ReportGroup* least = best(that_learned(groups), &RunGroup::wire_bytes, true);
  if (!least || base.group.wire_bytes.n == 0 || base.group.diverged > 0) return {};
  const auto total = [](const ReportGroup& g) {
    return format_value(g.group.wire_bytes.mean, Quantity::kBytes);
  };
  answer.answer = capital(base_name(data, section)) + " a run puts " + total(base) + " on the wire";
  if (least == &base) {
    answer.answer += groups.size() > 1 ? one_choice(groups) ? "; nothing else sends less."
                                                            : "; no method sends less."
                                       : ".";
    return answer;
  }
  const double share = least->group.wire_bytes.mean / base.group.wire_bytes.mean;
  answer.answer += ". The least is " + total(*least) + " with " + least->name + ": " +
                   format_value(share, Quantity::kShare) + " of that, " + times(1 / share) +
                   " times less (" + accuracy_mark(*least) + ").";
  return answer;
}

}  // namespace

std::vector<Answer> answers(const ReportData& data, const Section& section) {
  const Groups groups = members(data, section);
  std::vector<Answer> result = {step_time_answer(data, section, groups),
                                learning_answer(data, section, groups),
                                loss_answer(groups),
                                updates_answer(groups),
                                target_answer(data, section, groups),
                                bytes_answer(data, section, groups),
                                choice_answer(data, section)};
  std::erase_if(result, [](const Answer& answer) { return answer.answer.empty(); });
  return result;
}

namespace {

using Same = bool (*)(const ReportGroup&, const ReportGroup&);

/// "terngrad (41 ms)", "no difference (41 ms)", "terngrad, qsgd (41 ms)".
std::string best_cell(const Groups& groups, Statistic RunGroup::*figure, bool least, Same same,
                      Quantity quantity) {
  const ReportGroup* winner = best(groups, figure, least);
  if (!winner) return "-";
  const Groups equal = same ? no_worse(groups, *winner, same, figure) : Groups{winner};
  const std::string names =
      equal.size() > 1 && equal.size() == groups.size() ? "no difference" : names_of(equal);
  return names + " (" + format_value((winner->group.*figure).mean, quantity) + ")";
}

}  // namespace

std::vector<std::vector<std::string>> winners_table(const ReportData& data) {
  if (data.sections.size() < 2) return {};
  std::vector<std::vector<std::string>> table = {{"condition", "recommended", "shortest step",
                                                  "first at the target", "best final accuracy",
                                                  "fewest bytes"}};
  for (const Section& section : data.sections) {
    const Groups all = members(data, section), groups = that_learned(all);
    table.push_back(
        {section.label, choice_cell(data, section),
         steps_compare(all)
             ? best_cell(groups, &RunGroup::step_time_s, true, same_step_time, Quantity::kSeconds)
             : "-",
         best_cell(that_reached(groups), &RunGroup::time_to_target_s, true, same_time_to_target,
                   Quantity::kSeconds),
         best_cell(groups, &RunGroup::final_accuracy, false, same_accuracy, Quantity::kShare),
         best_cell(groups, &RunGroup::wire_bytes, true, nullptr, Quantity::kBytes)});
  }
  return table;
}

}  // namespace gradwire::results
