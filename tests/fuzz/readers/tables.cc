#include "tests/fuzz/readers/groups.h"
#include "tests/fuzz/readers/inputs.h"

#include "results/export/csv.h"
#include "results/points/csv_points.h"
#include "results/points/iperf_log.h"
#include "results/points/nccl_log.h"
#include "results/prediction/fit_file.h"
#include "sim/cluster/rate_schedule.h"
#include "sim/transport/calibration.h"

namespace gradwire::testing {
namespace {

Inputs trace_seeds() {
  return {bytes_of("1\n3\n3\n3\n7\n20\n"), bytes_of("0\n1000\n")};
}
bool read_trace(std::span<const std::byte> bytes) {
  return takes([&] { sim::RateSchedule::from_mahimahi("a trace", text_of(bytes)); });
}

Inputs schedule_seeds() {
  return {bytes_of("seconds,bps\n0,1e6\n2.5,0\n# gone\n4,2e6\n"),
          bytes_of("rate (MB/s);t [ms]\r0.5;0\r1.5;250\r"),
          bytes_of("# time_s throughput_mbps\n0 24.5\n1 18\n"),
          bytes_of("0,24.5Mbps\n1500 ms,1 kbit/s\n")};
}
bool read_schedule(std::span<const std::byte> bytes) {
  return takes([&] { sim::RateSchedule::from_csv("a schedule", text_of(bytes)); });
}

Inputs calibration_seeds() {
  Inputs inputs;
  for (const std::string_view name : sim::shipped_calibrations())
    inputs.push_back(bytes_of(sim::calibration_json(sim::shipped_calibration(name))));
  return inputs;
}
bool read_calibration(std::span<const std::byte> bytes) {
  return takes([&] { sim::parse_calibration(text_of(bytes), "a calibration"); });
}

Inputs table_seeds() {
  Inputs inputs = of_files({"tests/results/points/samples/steps.csv"});
  inputs.push_back(bytes_of(
      "workers;exchange;message_MB;bandwidth;delay;step_time_ms\r2;ring;1.5;10Gbps;5us;8\r"));
  return inputs;
}
bool read_table(std::span<const std::byte> bytes) {
  return takes([&] { results::points_from_csv(text_of(bytes), "a table", {}); });
}

Inputs nccl_seeds() {
  return of_files({"tests/results/points/samples/all_reduce.txt",
                   "tests/results/points/samples/all_gather.txt",
                   "tests/results/points/samples/nccl_alltoall.txt",
                   "tests/results/points/samples/nccl_ansi.txt",
                   "tests/results/points/samples/nccl_fragment.txt",
                   "tests/results/points/samples/nccl_json_g8_2proc.json",
                   "tests/results/points/samples/nccl_nohash.txt",
                   "tests/results/points/samples/nccl_old_allgather.txt",
                   "tests/results/points/samples/nccl_pdsh.txt",
                   "tests/results/points/samples/nccl_timestamps.txt"});
}
bool read_nccl(std::span<const std::byte> bytes) {
  return takes([&] { results::read_nccl_log(text_of(bytes), "a log"); });
}

Inputs iperf_seeds() {
  return of_files({"tests/results/points/samples/iperf3.json",
                   "tests/results/points/samples/iperf3.txt",
                   "tests/results/points/samples/iperf3_stream.jsonl"});
}
bool read_iperf(std::span<const std::byte> bytes) {
  return takes([&] { results::read_iperf_log(text_of(bytes), "a log"); });
}

Inputs csv_seeds() {
  return {bytes_of("# of a cluster\nworkers,\"a, b\",step\n2,\"x \"\"y\"\"\",0.5\n4,,1e3\n")};
}
bool read_csv(std::span<const std::byte> bytes) {
  return takes([&] {
    const results::CsvTable table(text_of(bytes), "a table");
    for (std::size_t row = 0; row < table.rows(); ++row) table.positive(row, "step");
  });
}

Inputs fit_seeds() {
  return {bytes_of(results::fit_as_json(results::usual_fit()))};
}
bool read_fit(std::span<const std::byte> bytes) {
  return takes([&] { results::fit_from_json(text_of(bytes), "a fit"); });
}

constexpr Reader kReaders[] = {
    {"trace", trace_seeds, read_trace},
    {"schedule", schedule_seeds, read_schedule},
    {"calibration", calibration_seeds, read_calibration},
    {"table", table_seeds, read_table},
    {"csv", csv_seeds, read_csv},
    {"nccl-log", nccl_seeds, read_nccl},
    {"iperf-log", iperf_seeds, read_iperf},
    {"fit", fit_seeds, read_fit},
};

}  // namespace

std::span<const Reader> table_readers() {
  return kReaders;
}

}  // namespace gradwire::testing
