#pragma once
#include <string>
#include <vector>

#include "results/report/data.h"

/// Which groups of a report differ by more than chance, and which to take; shared by the report's
/// files, not an interface.
namespace gradwire::results {

using Groups = std::vector<const ReportGroup*>;

Groups members(const ReportData& data, const Section& section);
/// What a planner compares: each section's uncompressed and recommended groups; all, where there is
/// no method to choose.
Groups compared_groups(const ReportData& data);
/// Those of which no run diverged.
Groups that_learned(const Groups& groups);
/// "terngrad (2 of 4 runs), topk (all 4 runs)": those of which runs diverged; empty where none did.
std::string diverged_words(const Groups& groups);
/// Whether a step is a batch of each worker in all of them, so that step times say who is faster.
bool steps_compare(const Groups& groups);

/// Whether all send the same in the same way, so that there is no method to choose.
bool one_choice(const Groups& groups);

/// What is known of each group's accuracy, and its message's bytes. Accuracy: the section's own
/// training where there is some, else `data.accuracy` (what the store's runs and publications say).
void add_evidence(const Store& store, ReportData& data);

/// Step times within the tie of `advise`, or within what the seeds can tell apart.
bool same_step_time(const ReportGroup& a, const ReportGroup& b);
/// Times to the target that lie within the time between two evaluations, or within what the seeds
/// can tell apart.
bool same_time_to_target(const ReportGroup& a, const ReportGroup& b);
/// Final accuracies equal to a tenth of a point, or within what the seeds can tell apart.
bool same_accuracy(const ReportGroup& a, const ReportGroup& b);

/// Virtual time between two evaluations; 0 where there are fewer than two.
double evaluation_interval_s(const ReportGroup& group);

/// "accuracy kept", "loses accuracy", ...: beside a method that is named as the best at something.
std::string accuracy_mark(const ReportGroup& group);

/// What to do in this section, by the rule and in the words of `advise`; empty where there is one
/// group or no step time.
Answer choice_answer(const ReportData& data, const Section& section);
/// The group to take; null where there is nothing to choose, or none may be taken. Where steps do
/// not compare: the first at the target of those that lose no accuracy.
const ReportGroup* recommended(const ReportData& data, const Section& section);
/// "none: training diverged", "none of them" or "-": why there is no recommended one.
std::string why_none(const Groups& groups);
/// The same as the name of what is chosen; "-" where there is nothing to choose.
std::string choice_cell(const ReportData& data, const Section& section);

}  // namespace gradwire::results
