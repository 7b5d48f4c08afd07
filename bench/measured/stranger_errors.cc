#include "bench/measured/stranger_errors.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "bench/fidelity/statistics.h"
#include "bench/measured/collective_form.h"
#include "bench/measured/constants.h"
#include "bench/measured/forms.h"
#include "scenarios/kernels/model_family.h"
#include "scenarios/profile.h"

namespace gradwire::bench {
namespace {

/// What the rows of a group are about.
struct About {
  std::string source, workload, family, device;
  int least = 0, most = 0;

  void add(int workers) {
    least = least ? std::min(least, workers) : workers;
    most = std::max(most, workers);
  }
};

/// Transformers are known by their shape, other networks by their layer tables.
std::string family_of(const MeasuredStep& step) {
  return step.layers ? "attention"
                     : scenarios::family_of(scenarios::load_workload_profile(step.workload, ""));
}

std::map<std::string, About> described(const MeasuredTables& tables, const MeasuredForms& forms) {
  const auto has_form = [](const std::vector<FormRow>& rows, const std::string& group) {
    return std::ranges::any_of(rows, [&](const FormRow& row) { return row.group == group; });
  };
  std::map<std::string, About> groups;
  for (const MeasuredStep& step : tables.steps) {
    const std::string group = group_of(step);
    if (!has_form(forms.steps, group)) continue;
    About& about = groups[group];
    const std::string method = step.method.empty() ? "" : " with " + step.method;
    about.source = short_source(step.source) + method;
    about.workload = step.workload;
    about.family = family_of(step);
    about.device = step.device;
    about.add(step.workers);
  }
  for (const MeasuredCollective& one : tables.collectives) {
    const std::string group = group_of(one);
    if (!has_form(forms.collectives, group)) continue;
    About& about = groups[group];
    about = {short_source(one.source),
             one.collective,
             "collective",
             one.device,
             about.least,
             about.most};
    about.add(one.workers);
  }
  return groups;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", 100 * share);
  return text;
}

std::string line_of(const About& about, const std::vector<const JudgedRow*>& rows) {
  std::vector<double> errors;
  double inside = 0;
  for (const JudgedRow* row : rows) {
    errors.push_back(std::abs(row->error()));
    inside += row->inside();
  }
  const double count = static_cast<double>(rows.size());
  return about.source + "," + about.workload + "," + about.family + "," + about.device + "," +
         std::to_string(about.least) + "," + std::to_string(about.most) + "," +
         std::to_string(rows.size()) + "," + percent(median_of(errors)) + "," +
         percent(*std::ranges::max_element(errors)) + "," + percent(inside / count) + "\n";
}

}  // namespace

std::string stranger_errors_csv() {
  const MeasuredTables tables = shipped_measured();
  const MeasuredForms forms = forms_of(tables);
  std::vector<JudgedRow> judged = judge_strangers(forms.steps, constant_unknowns());
  for (JudgedRow& row : judge_strangers(forms.collectives, collective_unknowns()))
    judged.push_back(std::move(row));
  std::map<std::string, std::vector<const JudgedRow*>> groups;
  for (const JudgedRow& row : judged) groups[row.group].push_back(&row);
  std::string csv =
      "# Times that others measured, held against predictions with constants from the other\n"
      "# sources alone: errors in %, and the share (%) of rows inside their 90 % band.\n"
      "# Written by gradwire-bench-measured --errors; docs/validation/measured.md.\n"
      "source,workload,family,device,least_workers,most_workers,rows,median,worst,inside\n";
  for (const auto& [group, about] : described(tables, forms))
    csv += line_of(about, groups.at(group));
  return csv;
}

}  // namespace gradwire::bench
