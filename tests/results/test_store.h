#pragma once
#include <memory>
#include <string>

#include "base/temporary_file.h"
#include "results/store/store.h"

using gradwire::TemporaryFolder;

inline gradwire::results::RunHeader sample_header(std::uint64_t seed = 1,
                                                  const std::string& hash = "00c0ffee00c0ffee") {
  gradwire::results::RunHeader header;
  header.scenario_hash = hash;
  header.scenario_json =
      R"({"name":"sample","workload":{"model":"lenet5"},"seeds":[)" + std::to_string(seed) + "]}";
  header.scenario_name = "sample";
  header.scenario_file = "sample.json";
  header.seed = seed;
  header.method = "topk 1%";
  header.executor = "flow";
  header.model = "lenet5";
  header.data_set = "digits";
  header.workers = 8;
  header.host = "host (CPU)";
  header.version = "0.1.0";
  header.device = "cpu";
  header.compute_provenance = "measured";
  return header;
}

/// A database in a folder of its own, with the sample run begun.
struct BegunRun {
  explicit BegunRun(std::int64_t steps)
      : store(gradwire::results::Store::open(folder.file("a.db"),
                                             gradwire::results::Store::Mode::kReadWrite)),
        id(store->begin_run(sample_header(), steps)) {}
  TemporaryFolder folder;
  std::unique_ptr<gradwire::results::Store> store;
  gradwire::results::RunId id;
};

inline gradwire::results::StepRow sample_step(std::int64_t step) {
  gradwire::results::StepRow row;
  row.step = step;
  row.loss = 2.0 / (1.0 + static_cast<double>(step));
  row.start_s = 0.25 * static_cast<double>(step);
  row.end_s = row.start_s + 0.25;
  row.payload_bytes = 1000;
  row.wire_bytes = 1100;
  row.retransmissions = step % 3;
  row.compute_s = 0.1;
  row.codec_s = 0.05;
  row.exposed_s = 0.1;
  return row;
}
