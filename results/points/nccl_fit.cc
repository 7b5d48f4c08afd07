#include "results/points/nccl_fit.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/joined_texts.h"
#include "results/points/log_lines.h"
#include "results/points/nccl_log.h"

namespace gradwire::results {
namespace {

/// A row of a log, and the calls that it stands for.
struct Timed {
  NcclFit::Row row;
  sim::NcclCall call;
};

void add_run(const NcclRun& run, const std::string& file, std::vector<Timed>& timed,
             std::vector<std::string>& warnings) {
  warnings.insert(warnings.end(), run.notes.begin(), run.notes.end());
  if (run.test == NcclTest::kAllToAll)
    refuse_log(file, run.rows.front().line, "NCCL's form has no all-to-all",
               "logs of all_reduce_perf, all_gather_perf and reduce_scatter_perf");
  const int nodes = std::max(run.hosts, 1);
  for (const NcclRow& line : run.rows) {
    if (line.timings.front().wrong) {
      warnings.push_back(log_place(file, line.line) + ": its results were wrong; left out");
      continue;
    }
    const double seconds = line.timings.front().seconds;
    Timed& one = timed.emplace_back();
    one.row = {std::string(name_of(run.test)), run.ranks, nodes, line.bytes, seconds, 0, "", ""};
    one.call.all_reduce = run.test == NcclTest::kAllReduce;
    one.call.share = (one.call.all_reduce ? 2.0 : 1.0) * (run.ranks - 1) / run.ranks;
    one.call.workers = run.ranks;
    one.call.nodes = nodes;
    one.call.gpus_per_node = (run.ranks + nodes - 1) / nodes;
    one.call.bytes = line.bytes;
  }
}

sim::NcclPlan plan_of(const Timed& one, const sim::NcclGpu& gpu, double between,
                      std::span<const double> logarithms) {
  const sim::NcclCall& call = one.call;
  double bandwidth =
      call.gpus_per_node > 1 ? gpu.bytes_per_second(call.gpus_per_node, call.all_reduce) : between;
  if (call.nodes > 1) bandwidth = std::min(bandwidth, between);
  return sim::nccl_plan(call,
                        {bandwidth * std::exp(logarithms[2]),
                         gpu.most_of_ll[static_cast<std::size_t>(std::min(call.nodes, 3) - 1)],
                         std::exp(logarithms[1]), std::exp(logarithms[3])});
}

void add_errors(NcclFit& fit) {
  std::vector<double> errors;
  for (const NcclFit::Row& row : fit.rows) errors.push_back(std::abs(row.fitted / row.seconds - 1));
  std::ranges::sort(errors);
  fit.median_error = errors[errors.size() / 2];
  fit.worst_error = errors.back();
}

const sim::NcclGpu& gpu_of(const std::string& name) {
  if (const sim::NcclGpu* gpu = sim::nccl_gpu(name)) return *gpu;
  throw Error(ErrorKind::kUsage, "fit NCCL's constants", "GPU \"" + name + "\"",
              "the links between GPUs of its nodes are not known",
              "one of " + joined_texts(sim::nccl_gpus(), ", ", &sim::NcclGpu::name));
}

}  // namespace

std::vector<Unknown> nccl_unknowns() {
  return {{"start", std::log(25e-6), std::log(25e-6), 0.5},
          {"latency", 0, 0, 0.3},
          {"bandwidth", 0, 0, 0.05},
          {"network", 0, 0, 1}};
}

NcclFit fit_nccl(std::span<const LogFile> logs, const NcclFitRequest& request) {
  const sim::NcclGpu& gpu = gpu_of(request.gpu);
  NcclFit fit;
  std::vector<Timed> timed;
  for (const LogFile& log : logs)
    for (const NcclRun& run : read_nccl_log(log.text, log.name))
      add_run(run, log.name, timed, fit.warnings);
  const auto several = [](const Timed& one) { return one.call.nodes > 1; };
  if (!request.between && std::ranges::any_of(timed, several))
    throw Error(ErrorKind::kUsage, "fit NCCL's constants", logs.front().name,
                "the bandwidth between its nodes is not stated",
                "state what one node's adapters carry together: --between 400Gbps");
  const double between = request.between ? request.between->value() / 8 : 0;
  const std::vector<Unknown> unknowns = nccl_unknowns();
  const auto seconds = [&](const Timed& one, std::span<const double> values) {
    return std::exp(values[0]) + plan_of(one, gpu, between, values).seconds();
  };
  const LeastSquaresFit found = fit_least_squares(
      unknowns, timed.size(), [&](std::span<const double> values, std::span<double> residuals) {
        for (std::size_t i = 0; i < timed.size(); ++i)
          residuals[i] = std::log(seconds(timed[i], values) / timed[i].row.seconds);
      });
  fit.settings.start = Seconds(std::exp(found.values[0]));
  fit.settings.latency = std::exp(found.values[1]);
  fit.settings.bandwidth = std::exp(found.values[2]);
  fit.settings.network = std::exp(found.values[3]);
  fit.settings.gpu = &gpu;
  for (std::size_t k = 0; k < unknowns.size(); ++k) fit.decided[k] = found.identified(k);
  for (Timed& one : timed) {
    const sim::NcclPlan plan = plan_of(one, gpu, between, found.values);
    one.row.fitted = seconds(one, found.values);
    one.row.algorithm = plan.algorithm;
    one.row.protocol = plan.protocol;
    fit.rows.push_back(one.row);
  }
  add_errors(fit);
  return fit;
}

}  // namespace gradwire::results
