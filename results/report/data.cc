#include "results/report/data.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "compressors/codec.h"
#include "results/figures/method_colors.h"
#include "results/runs/collective_choice.h"
#include "results/runs/notes.h"
#include "results/runs/scenario_view.h"
#include "results/runs/usual_steps.h"

namespace gradwire::results {
namespace {

bool has_spread(std::size_t runs) {
  return runs > 1;
}

/// The values of each run at one position, as they are collected.
struct Cell {
  std::vector<double> time, bytes, value;
};

Curve curve_of(const std::map<std::int64_t, Cell>& cells, std::size_t runs) {
  Curve curve;
  for (const auto& [step, cell] : cells) {
    if (cell.value.size() < runs) continue;  // a mean over fewer runs would make a jump
    const Statistic value = statistic(cell.value);
    if (value.n == 0) continue;
    const double spread = has_spread(cell.value.size()) && value.n > 1 ? value.spread : 0;
    curve.time_s.push_back(statistic(cell.time).mean);
    curve.bytes.push_back(statistic(cell.bytes).mean);
    curve.mean.push_back(value.mean);
    curve.low.push_back(value.mean - spread);
    curve.high.push_back(value.mean + spread);
  }
  return curve;
}

void smooth(std::vector<double>& values, int window) {
  std::vector<double> result(values.size());
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto w = static_cast<std::size_t>(window);
    sum += values[i];
    if (i >= w) sum -= values[i - w];
    result[i] = sum / static_cast<double>(std::min(i + 1, w));
  }
  values = std::move(result);
}

void add_steps(std::span<const StepRow> steps, ReportGroup& group,
               std::map<std::int64_t, Cell>& losses,
               std::map<std::int64_t, std::pair<double, double>>& where) {
  double bytes = 0;
  for (const StepRow& step : steps) {
    bytes += static_cast<double>(step.wire_bytes);
    where[step.step] = {step.end_s, bytes};
    Cell& cell = losses[step.step];
    cell.time.push_back(step.end_s);
    cell.bytes.push_back(bytes);
    cell.value.push_back(step.loss);
    const double share = 1.0 / static_cast<double>(steps.size() * group.group.runs.size());
    group.split.compute_s += step.compute_s * share;
    group.split.codec_s += step.codec_s * share;
    group.split.exposed_codec_s += step.exposed_codec_s * share;
    group.split.exposed_s += step.exposed_s * share;
    group.split.wire_bytes += static_cast<double>(step.wire_bytes) * share;
    group.split.payload_bytes += static_cast<double>(step.payload_bytes) * share;
    group.split.retransmissions += static_cast<double>(step.retransmissions) * share;
  }
}

/// What fills the mean step, from step's end to step's end. Where steps overlap (the next one
/// begins while this one's last transfers are under way) their times count some seconds twice: what
/// is left for communication is then the step less its work. Runs stored before exposed_codec_s was
/// have it as what compute and communication leave, all of codec_s at most.
void fill_step(ReportGroup& group) {
  const double step = group.group.step_time_s.mean;
  if (std::isnan(step)) return;
  StepSplit& split = group.split;
  const auto left = [step](double used) { return std::max(0.0, step - used); };
  if (std::isnan(split.exposed_codec_s))
    split.exposed_codec_s = std::min(split.codec_s, left(split.compute_s + split.exposed_s));
  split.exposed_s = std::min(split.exposed_s, left(split.compute_s + split.exposed_codec_s));
  split.idle_s = left(split.compute_s + split.exposed_codec_s + split.exposed_s);
}

ReportGroup load_group(const Store& store, RunGroup source, int& window) {
  ReportGroup group;
  group.group = std::move(source);
  std::map<std::int64_t, Cell> losses, accuracies;
  std::vector<GradientLoss> lost;
  std::vector<DroppedUpdates> dropped;
  for (const RunSummary& run : group.group.runs) {
    std::map<std::int64_t, std::pair<double, double>> where;
    const std::vector<MetricRow> metrics = store.metrics(run.id);
    const std::vector<StepRow> steps = store.steps(run.id);
    add_steps(usual_rows(steps, metrics), group, losses, where);
    group.time_provenance = time_provenance(run.header, metrics);
    group.choice = choice_sentence(metrics);
    for (std::string& note : notes_of(metrics)) group.notes.insert(std::move(note));
    if (const auto loss = gradient_loss_of(metrics)) lost.push_back(*loss);
    if (const auto updates = dropped_updates_of(metrics)) dropped.push_back(*updates);
    for (const MetricRow& metric : metrics) {
      const auto at = where.find(metric.step);
      if (metric.name != "accuracy" || at == where.end()) continue;
      Cell& cell = accuracies[metric.step];
      cell.time.push_back(at->second.first);
      cell.bytes.push_back(at->second.second);
      cell.value.push_back(metric.value);
      group.learning_provenance = name_of(metric.provenance);
    }
  }
  fill_step(group);
  group.loss_of_gradients = mean_of(lost);
  group.updates = sum_of(dropped);
  group.accuracy = curve_of(accuracies, group.group.runs.size());
  group.loss = curve_of(losses, group.group.runs.size());
  // A workload without training stores no loss that could be drawn.
  if (std::all_of(group.loss.mean.begin(), group.loss.mean.end(), [](double v) { return v == 0; }))
    group.loss = {};
  window = std::max(window, static_cast<int>(losses.size() / 40));
  return group;
}

std::string section_key(const RunGroup& group, const std::vector<std::string>& pointers) {
  std::string key;
  for (const std::string& pointer : pointers) key += group.differing.at(pointer) + "\n";
  return key;
}

std::string section_label(const RunGroup& group, const std::vector<std::string>& pointers) {
  std::string label;
  for (const std::string& pointer : pointers)
    label += (label.empty() ? "" : ", ") + short_name(pointer) + " " + group.differing.at(pointer);
  return label;
}

/// Chosen beside the method: what is lost is sent again, or gone without.
constexpr const char* kTransport = "/network/transport/protocol";

std::string choice_name(const RunGroup& group) {
  const auto transport = group.differing.find(kTransport);
  return group.method + (transport == group.differing.end() ? "" : ", " + transport->second);
}

/// "deadline 6s": what tells a group from others that send the same.
std::string condition_name(const RunGroup& group) {
  std::vector<std::string> pointers;
  for (const auto& [pointer, text] : group.differing)
    if (!is_method(group, pointer) && pointer != kTransport) pointers.push_back(pointer);
  return section_label(group, pointers);
}

/// How often each name occurs among a section's groups.
std::map<std::string, int> counts(const ReportData& data, const Section& section,
                                  std::string (*name)(const RunGroup&)) {
  std::map<std::string, int> times;
  for (const std::size_t i : section.groups) ++times[name(data.groups[i].group)];
  return times;
}

void choose_names(ReportData& data) {
  std::vector<std::string> labels;
  for (const ReportGroup& group : data.groups) labels.push_back(group.group.method);
  const MethodColors methods(std::move(labels));
  // Choices of one method that differ otherwise have its colour, and other marks and dashes.
  std::map<std::string, int> colors, of_method;
  for (const Section& section : data.sections) {
    // Where all send the same, the conditions are the names.
    const bool alike = section.groups.size() > 1 && counts(data, section, choice_name).size() == 1;
    const auto name_of_group = alike ? condition_name : choice_name;
    const std::map<std::string, int> times = counts(data, section, name_of_group);
    for (const std::size_t i : section.groups) {
      ReportGroup& group = data.groups[i];
      const std::string name = name_of_group(group.group);
      group.name = times.at(name) == 1 && !name.empty() ? name : group.group.label;
      const auto [known, fresh] = colors.try_emplace(group.name, 0);
      if (fresh) {
        const int before = of_method[group.group.method]++;
        // Conditions of one method are told apart by colours.
        known->second = alike ? before : methods.of(group.group.method) + before * kSeriesColors;
      }
      group.color = known->second;
    }
  }
}

void order_sections(ReportData& data) {
  if (data.section_pointers.size() != 1) return;
  for (Section& section : data.sections) {
    double value = 0;
    const RunGroup& group = data.groups[section.groups.front()].group;
    if (number_from(group.differing.at(data.section_pointers.front()), value))
      section.along = value;
  }
  if (std::all_of(data.sections.begin(), data.sections.end(),
                  [](const Section& section) { return section.along.has_value(); }))
    std::stable_sort(data.sections.begin(), data.sections.end(),
                     [](const Section& a, const Section& b) { return *a.along < *b.along; });
  else
    for (Section& section : data.sections) section.along.reset();
}

void make_sections(ReportData& data) {
  std::set<std::string> methods;
  for (const ReportGroup& group : data.groups) methods.insert(group.group.method);
  // One method under many conditions: the conditions are what is compared. But nobody chooses
  // between executors: they answer one question twice (and an emulated run's twin in `flow` has the
  // delays that were measured).
  const RunGroup& first = data.groups.front().group;
  if (methods.size() > 1 || first.differing.contains("/executor"))
    for (const auto& [pointer, text] : first.differing)
      if (!is_method(first, pointer) && pointer != kTransport)
        data.section_pointers.push_back(pointer);
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < data.groups.size(); ++i) {
    const RunGroup& group = data.groups[i].group;
    const auto [found, fresh] =
        index.try_emplace(section_key(group, data.section_pointers), data.sections.size());
    if (fresh) data.sections.emplace_back().label = section_label(group, data.section_pointers);
    data.sections[found->second].groups.push_back(i);
  }
  for (Section& section : data.sections) {
    section.baseline = section.groups.front();
    const bool choice = section.groups.size() == 1 || counts(data, section, choice_name).size() > 1;
    for (const std::size_t i : section.groups) {
      if (!choice || !is_uncompressed(data.groups[i].group.method) || section.has_baseline)
        continue;
      section.baseline = i;
      section.has_baseline = true;
    }
    // Uncompressed first: what all else is held against.
    std::stable_partition(section.groups.begin(), section.groups.end(),
                          [&](std::size_t i) { return i == section.baseline; });
  }
  order_sections(data);
  choose_names(data);
}

}  // namespace

bool is_uncompressed(const std::string& method) {
  return compressors::is_plain_codec(method.substr(0, method.find(' ')));
}

std::string time_provenance(const RunHeader& header, std::span<const MetricRow> metrics) {
  for (const MetricRow& metric : metrics)
    if (metric.name == "step_time_s") return std::string(name_of(metric.provenance));
  if (header.executor == "emulator") return "emulated";
  return header.executor == "model" ? "predicted" : "simulated";
}

ReportData load_report(const Store& store, std::span<const RunId> ids) {
  ReportData data;
  std::map<RunId, RunSummary> known;
  for (RunSummary& run : store.runs()) known.emplace(run.id, std::move(run));
  for (const RunId id : std::set<RunId>(ids.begin(), ids.end())) {
    const auto found = known.find(id);
    if (found == known.end())
      throw StoreError("report on", "run " + std::to_string(id), "there is no such run",
                       "list the runs with `gradwire list`");
    data.runs.push_back(std::move(found->second));
    if (!has_ended(data.runs.back().status)) data.unfinished.push_back(data.runs.back());
  }
  for (RunGroup& group : group_runs(data.runs))
    data.groups.push_back(load_group(store, std::move(group), data.loss_window));
  if (data.groups.empty())
    throw StoreError("report on", std::to_string(data.runs.size()) + " runs",
                     "none of them is finished", "wait for them, or choose others");
  for (ReportGroup& group : data.groups)
    for (auto* values : {&group.loss.mean, &group.loss.low, &group.loss.high})
      smooth(*values, data.loss_window);
  make_sections(data);
  return data;
}

}  // namespace gradwire::results
