#include "bench/measured/hold_out.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <set>

#include "bench/fidelity/statistics.h"
#include "bench/measured/constants.h"
#include "bench/measured/forms.h"
#include "bench/measured/judged.h"
#include "bench/measured/transformer_shape.h"

namespace gradwire::bench {
namespace {

struct StepRow {
  const MeasuredStep* step;
  FormRow form;
};
using Wanted = std::function<bool(const MeasuredStep&)>;

std::vector<StepRow> rows_of(const MeasuredTables& tables) {
  std::vector<StepRow> rows;
  for (const MeasuredStep& step : tables.steps)
    for (const FormRow& form : forms_of({{step}, {}}).steps) rows.push_back({&step, form});
  return rows;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", 100 * share);
  return text;
}

std::string lines_of(const std::string& name, const std::vector<StepRow>& rows, const Wanted& out) {
  std::vector<const FormRow*> fitted, held;
  for (const StepRow& row : rows) (out(*row.step) ? held : fitted).push_back(&row.form);
  std::string lines;
  const auto judged = judge_rows(fitted, held, constant_unknowns(), 0);
  for (const auto& [group, members] : by_group(judged)) {
    const GroupErrors errors = errors_of(members);
    std::vector<double> sides;
    for (const JudgedRow* row : members) sides.push_back(row->error());
    lines += "| " + name + " | " + group + " | " + percent(errors.median) + " | " +
             percent(median_of(std::move(sides))) + " | " +
             percent(std::abs(errors.worst->error())) + " |\n";
  }
  return lines;
}

}  // namespace

std::string hold_out_table(const MeasuredTables& tables) {
  const std::vector<StepRow> rows = rows_of(tables);
  std::set<std::string> devices;
  for (const StepRow& row : rows) devices.insert(row.step->device);
  std::string table =
      "| left out | source | median | with its sign | worst |\n|---|---|---|---|---|\n";
  const auto add = [&](const std::string& name, const Wanted& out) {
    table += lines_of(name, rows, out);
  };
  for (const std::string& device : devices)
    add(device, [&](const MeasuredStep& step) { return step.device == device; });
  const auto transformer = [](const MeasuredStep& step) { return is_transformer(step.workload); };
  add("transformers", transformer);
  add("other networks", std::not_fn(transformer));
  const auto plain = [](const MeasuredStep& step) { return step.precision == "fp32"; };
  add("fp32", plain);
  add("other precisions", std::not_fn(plain));
  add("everything", [](const MeasuredStep&) { return true; });
  return table;
}

}  // namespace gradwire::bench
