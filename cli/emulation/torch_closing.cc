#include "cli/emulation/torch_closing.h"

#include <algorithm>
#include <cmath>

#include "cli/output/table.h"
#include "results/runs/usual_steps.h"
#include "runner/prediction/recorded_remedies.h"

namespace gradwire::cli {

UsualSteps usual_steps(const results::Store& store, results::RunId run) {
  UsualSteps usual;
  const auto metrics = store.metrics(run);
  for (const results::MetricRow& metric : metrics) {
    if (metric.name == "step_time_s") usual.step_s = metric.value;
    if (metric.name == "start_up_s") usual.start_up_s = metric.value;
    if (metric.name == "after_steps_s") usual.after_steps_s = metric.value;
  }
  const auto rows = store.steps(run);
  usual.steps = rows.size() - (usual.after_steps_s ? 1 : 0);
  double exposed = 0, all = 0;
  for (const results::StepRow& row : results::usual_rows(rows, metrics)) {
    exposed += row.exposed_s;
    all += usual.step_s;
  }
  usual.exposed_share = all > 0 ? std::min(1.0, exposed / all) : 0;
  return usual;
}

std::string sentence_of(const UsualSteps& usual, const std::string& executor) {
  const std::size_t counted = usual.steps - (usual.start_up_s ? 1 : 0);
  std::string text =
      "a step takes " + format_duration(Seconds(usual.step_s)) + " on this network, " +
      std::to_string(std::lround(100 * usual.exposed_share)) + " % of it exposed communication (" +
      executor + ", " +
      (counted == 1 ? "one step" : "the mean of " + std::to_string(counted) + " steps");
  if (usual.start_up_s)
    text += "; not in it: the first of the " + std::to_string(usual.steps) +
            " recorded, which has the start-up in it, " +
            format_duration(Seconds(*usual.start_up_s));
  if (usual.after_steps_s)
    text += std::string(usual.start_up_s ? ", and" : "; not in it:") +
            " what the ranks do behind the last step, " +
            format_duration(Seconds(*usual.after_steps_s));
  return text + ")";
}

void print_remedies(const scenarios::Scenario& scenario, double step_s, const Context& context) {
  const runner::Remedies remedies = runner::remedies_of(scenario);
  if (remedies.changes.empty()) {
    context.say("nothing tried makes a step shorter by 2 %: links, delays, messages, devices");
    return;
  }
  Table table({{"change", "what would help", Column::Style::kPlain, Importance::kKey},
               {"step_time_s", "step", Column::Style::kDuration, Importance::kKey},
               {"faster", "times as fast", Column::Style::kPlain, Importance::kKey}});
  for (const runner::Remedy& remedy : remedies.changes) {
    const double faster = remedies.now_s / remedy.step_s;
    table.add({remedy.change, step_s / faster, faster});
  }
  table.print(context, "remedy");
}

}  // namespace gradwire::cli
