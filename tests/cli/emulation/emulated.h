#pragma once
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "results/store/store.h"
#include "tests/cli/program.h"
#include "tests/skip.h"

/// Runs on the emulator, and what they left in the store.
namespace gradwire::testing {

inline constexpr int kNoCapability = 5;

inline std::string scenario_text(const std::string& workload, const std::string& delay) {
  return R"({"schema_version": 1, "name": "m", "workload": )" + workload +
         R"(, "cluster": {"workers": 2}, "network": {"link": {"bandwidth": "200Mbps", "delay": ")" +
         delay + R"("}}, "executor": "emulator"})";
}

inline const std::string kRing =
    R"({"collective": "ring-all-reduce", "bytes": "100kB", "repetitions": 4})";

/// Runs a scenario on the emulator, which may find itself too late to be valid; skips the case
/// where this machine has none.
inline Result emulated_or_invalid(const std::vector<std::string>& arguments) {
  Result result = run_program(arguments);
  if (result.exit_code == kNoCapability) skip("no emulator: " + result.err);
  return result;
}

/// Runs a scenario on the emulator; skips the case where this machine has none, or is too busy.
inline Result emulated(const std::vector<std::string>& arguments) {
  Result result = emulated_or_invalid(arguments);
  if (result.err.find("it is stored as invalid") != std::string::npos)
    skip("too busy a machine: " + result.err);
  return result;
}

/// Of the whole run, by name.
inline std::map<std::string, results::MetricRow> figures(const results::Store& store,
                                                         results::RunId run) {
  std::map<std::string, results::MetricRow> figures;
  for (const results::MetricRow& row : store.metrics(run))
    if (row.step < 0) figures[row.name] = row;
  return figures;
}

/// Of the run on that executor.
inline results::RunSummary run_on(const results::Store& store, const std::string& executor) {
  for (const results::RunSummary& run : store.runs())
    if (run.header.executor == executor) return run;
  FAIL("no run on " << executor);
  return {};
}

inline bool has_note(const results::Store& store, results::RunId run, const std::string& words) {
  for (const auto& [name, row] : figures(store, run))
    if (name.starts_with("note: ") && name.find(words) != std::string::npos) return true;
  return false;
}

/// Three workers that train on the digits.
inline std::string training(const std::string& method, const std::string& rest) {
  return R"({"schema_version": 1, "name": "t", "workload": {"model": "mlp", "data": {"set": "digits"},
      "batch_per_worker": 8, "steps": 3, "optimizer": {"name": "sgd", "lr": 0.05}},
      "method": {"name": ")" +
         method + R"("}, "cluster": {"workers": 3}, "network": {"link": {"bandwidth": "100Mbps",
      "delay": "0us"}}, "executor": "emulator", )" +
         rest + "}";
}

}  // namespace gradwire::testing
