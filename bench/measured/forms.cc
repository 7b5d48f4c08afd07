#include "bench/measured/forms.h"

#include <cctype>
#include <memory>

#include "bench/measured/collective_form.h"
#include "bench/measured/constants.h"
#include "bench/measured/step_form.h"

namespace gradwire::bench {
namespace {

/// What the forms leave of rows. NCCL changes the protocol where its own estimate says, and inside
/// a node its times jump there; between nodes the network's latency is longer than those jumps.
constexpr double kStepScatter = 0.05, kInNodeScatter = 0.25, kBetweenNodesScatter = 0.15;

double known_to(const MeasuredCollective& one) {
  return one.workers > one.gpus_per_node ? kBetweenNodesScatter : kInNodeScatter;
}

std::string label_of(const MeasuredStep& step) {
  std::string label = std::to_string(step.gpus()) + " x " + step.precision + ", " +
                      std::to_string(step.accumulated) + " x " + std::to_string(step.batch) +
                      " samples";
  if (step.layers)
    label += ", " + std::to_string(step.layers) + " layers of " + std::to_string(step.hidden);
  if (step.tensor_parallel > 1) label += ", tensors in " + std::to_string(step.tensor_parallel);
  if (step.pipeline_parallel > 1)
    label += ", " + std::to_string(step.pipeline_parallel) + " stages";
  if (step.compiled) label += ", compiled";
  if (step.local_steps > 1) label += ", " + std::to_string(step.local_steps) + " local steps";
  return label;
}

}  // namespace

std::string short_source(const std::string& source) {
  std::string name;
  for (const char c : source.substr(0, source.find(':')))
    name += std::isalnum(static_cast<unsigned char>(c))
                ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                : '-';
  return name.empty() ? "unnamed" : name;
}

std::string group_of(const MeasuredStep& step) {
  return short_source(step.source) + "." + step.workload + "." + step.device +
         (step.method.empty() ? "" : "." + step.method);
}

std::string group_of(const MeasuredCollective& one) {
  return short_source(one.source) + "." + one.collective + "." + one.device +
         (one.workers > one.gpus_per_node ? ".between-nodes" : "");
}

std::string why_without_form(const MeasuredStep& step) {
  return step.refused.empty() ? why_no_step_form(step) : step.refused;
}

std::string why_without_form(const MeasuredCollective& one) {
  return one.refused.empty() ? why_no_collective_form(one) : one.refused;
}

MeasuredForms forms_of(const MeasuredTables& tables) {
  MeasuredForms forms;
  const auto has_form = [&forms](const auto& row) {
    const std::string reason = why_without_form(row), group = group_of(row);
    if (reason.empty()) return true;
    WithoutForm& rows =
        forms.without_form.try_emplace(group + ": " + reason, group, reason, 0, row.place)
            .first->second;
    ++rows.rows;
    return false;
  };
  for (const MeasuredStep& step : tables.steps) {
    if (!has_form(step)) continue;
    auto form = std::make_shared<const StepForm>(step);
    forms.steps.push_back(
        {group_of(step), label_of(step), step.device, static_cast<int>(step.gpus()),
         step.time.value(),
         [form](std::span<const double> x) { return form->time(constants_at(x)).value(); },
         kStepScatter});
  }
  for (const MeasuredCollective& one : tables.collectives) {
    if (!has_form(one)) continue;
    forms.collectives.push_back(
        {group_of(one),
         std::to_string(one.workers) + " GPUs, " + std::to_string(one.bytes.count()) + " B",
         one.device, one.workers, one.time.value(),
         [one](std::span<const double> x) { return collective_time(one, x).value(); },
         known_to(one)});
  }
  return forms;
}

std::vector<FormRow> shipped_steps() {
  return forms_of(shipped_measured()).steps;
}

}  // namespace gradwire::bench
