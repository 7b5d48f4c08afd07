// Runs of what others measured: NCCL's collectives through the executors, one at a time.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "bench/measured/collective_form.h"
#include "bench/measured/forms.h"
#include "bench/measured/judged.h"
#include "sim/executors.h"
#include "sim/transport/nccl.h"

namespace gradwire::bench {
namespace {

/// Rows of the tables that ship, all-reduces inside a node of one device.
std::vector<MeasuredCollective> rows_of(const std::string& device) {
  std::vector<MeasuredCollective> rows;
  for (const MeasuredCollective& one : shipped_measured().collectives)
    if (one.device == device && one.collective == "all-reduce" && why_without_form(one).empty() &&
        one.workers <= one.gpus_per_node)
      rows.push_back(one);
  return rows;
}

/// Fitted to all of the rows.
sim::NcclSettings settings_of(const std::vector<MeasuredCollective>& rows) {
  MeasuredTables tables;
  tables.collectives = rows;
  const MeasuredForms forms = forms_of(tables);
  std::vector<const FormRow*> fitted;
  for (const FormRow& row : forms.collectives) fitted.push_back(&row);
  const std::vector<double> values = known_from(fitted, collective_unknowns()).values;
  sim::NcclSettings nccl;
  nccl.start = Seconds(std::exp(values[0]));
  nccl.latency = std::exp(values[1]);
  nccl.bandwidth = std::exp(values[2]);
  nccl.gpu = sim::nccl_gpu(rows.front().device);
  nccl.gpus_per_node = std::numeric_limits<int>::max();
  return nccl;
}

double seconds_of(const char* name, const MeasuredCollective& one, double bits_per_second,
                  const std::optional<sim::NcclSettings>& library) {
  sim::ExecutorOptions options;
  options.transport.protocol = sim::TransportSettings::Protocol::kRdma;
  options.transport.segment = sim::kRdmaSegment;
  options.transport.wire_segment = sim::kRdmaWireSegment;
  options.transport.library = library;
  sim::LinkSpec link;
  link.rate = BitsPerSecond(bits_per_second);
  link.delay = Seconds(0.25e-6);
  const auto executor = sim::make_executor(name, sim::Cluster::star(one.workers, link), options);
  sim::CollectiveSpec spec;
  spec.kind = sim::CollectiveKind::kRingAllReduce;
  for (int rank = 0; rank < one.workers; ++rank) spec.members.push_back(rank);
  spec.elements = one.bytes.count() / 4;
  sim::GraphBuilder builder;
  builder.add_collective(spec, "all-reduce");
  const sim::GraphPtr graph = builder.finish();
  const std::vector<Seconds> seconds(graph->size());
  return sim::run_to_end(*executor, executor->submit({graph, {}, seconds})).end.value();
}

double median_error(const char* executor, const std::vector<MeasuredCollective>& rows,
                    double bits_per_second, const std::optional<sim::NcclSettings>& library) {
  std::vector<double> errors;
  for (const MeasuredCollective& one : rows)
    errors.push_back(
        std::abs(seconds_of(executor, one, bits_per_second, library) / one.time.value() - 1));
  std::ranges::sort(errors);
  return errors[errors.size() / 2];
}

TEST_CASE("a run of NCCL's all-reduces takes what they were measured to take", "[measured]") {
  for (const auto& [device, rate, count] :
       {std::tuple("v100", 1200e9, 42u), std::tuple("b200", 7200e9, 10u)}) {
    CAPTURE(device);
    const std::vector<MeasuredCollective> rows = rows_of(device);
    REQUIRE(rows.size() == count);
    const sim::NcclSettings nccl = settings_of(rows);
    for (const char* executor : {"model", "flow"}) {
      CAPTURE(executor);
      CHECK(median_error(executor, rows, rate, nccl) < 0.08);
      // Without a library a call has no start and its GPUs all of their links.
      if (std::string(device) == "v100") CHECK(median_error(executor, rows, rate, {}) > 0.5);
    }
    // Nothing else uses the links: both executors have one time.
    for (const MeasuredCollective& one : rows)
      CHECK(seconds_of("model", one, rate, nccl) ==
            Approx(seconds_of("flow", one, rate, nccl)).epsilon(0.02));
  }
}

}  // namespace
}  // namespace gradwire::bench
