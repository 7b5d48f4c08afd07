#include "bench/measured/stranger_errors.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

#include "bench/measured/collective_form.h"
#include "bench/measured/constants.h"
#include "bench/measured/forms.h"
#include "scenarios/kernels/model_family.h"
#include "scenarios/profiles/profile.h"

namespace gradwire::bench {
namespace {

/// What the rows of a group are about.
struct About {
  std::string source, workload, family, device;
  int least = std::numeric_limits<int>::max(), most = 0;
};

/// Transformers are known by their shape, other networks by their layer tables.
std::string family_of(const MeasuredStep& step) {
  return step.layers ? "attention"
                     : scenarios::family_of(scenarios::load_workload_profile(step.workload, ""));
}

/// The groups that have a form.
std::map<std::string, About> described(const MeasuredTables& tables, const MeasuredForms& forms) {
  std::map<std::string, About> groups;
  for (const auto* rows : {&forms.steps, &forms.collectives})
    for (const FormRow& row : *rows) {
      About& about = groups[row.group];
      about.device = row.device;
      about.least = std::min(about.least, row.workers);
      about.most = std::max(about.most, row.workers);
    }
  const auto add = [&](const auto& row, const auto& words) {
    const auto group = groups.find(group_of(row));
    if (group != groups.end() && group->second.source.empty()) words(row, group->second);
  };
  for (const MeasuredStep& step : tables.steps)
    add(step, [](const MeasuredStep& row, About& about) {
      about.source = short_source(row.source) + (row.method.empty() ? "" : " with " + row.method);
      about.workload = row.workload;
      about.family = family_of(row);
    });
  for (const MeasuredCollective& one : tables.collectives)
    add(one, [](const MeasuredCollective& row, About& about) {
      about.source = short_source(row.source);
      about.workload = row.collective;
      about.family = "collective";
    });
  return groups;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", 100 * share);
  return text;
}

std::string line_of(const About& about, const std::vector<const JudgedRow*>& rows) {
  const GroupErrors errors = errors_of(rows);
  return about.source + "," + about.workload + "," + about.family + "," + about.device + "," +
         std::to_string(about.least) + "," + std::to_string(about.most) + "," +
         std::to_string(rows.size()) + "," + percent(errors.median) + "," +
         percent(std::abs(errors.worst->error())) + "," + percent(errors.inside) + "\n";
}

}  // namespace

std::string stranger_errors_csv() {
  const MeasuredTables tables = shipped_measured();
  const MeasuredForms forms = forms_of(tables);
  std::vector<JudgedRow> judged = judge_strangers(forms.steps, constant_unknowns());
  for (JudgedRow& row : judge_strangers(forms.collectives, collective_unknowns()))
    judged.push_back(std::move(row));
  const auto groups = by_group(judged);
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
