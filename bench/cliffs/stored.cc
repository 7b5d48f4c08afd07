#include "bench/cliffs/stored.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <regex>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "bench/cliffs/two_threads.h"
#include "runner/interrupt.h"

namespace gradwire::bench {
namespace {

using nlohmann::ordered_json;

constexpr double kClose = 0.95;  ///< share of scenarios that are to be close
constexpr int kExceptions = 5;   ///< of those that may be off

Measure::Since since_of(const std::string& text, Measure::Since usual) {
  if (text == "start") return Measure::Since::kStart;
  if (text == "first") return Measure::Since::kFirst;
  return text == "run" ? Measure::Since::kRun : usual;
}

StoredCase case_of(const ordered_json& line) {
  StoredCase stored;
  stored.name = line.at("name").get<std::string>();
  stored.scenario = line.at("scenario");
  stored.measure = measure_of(stored.scenario);
  stored.measure.only = line.value("of", "");
  stored.measure.since = since_of(line.value("since", ""), stored.measure.since);
  const ordered_json& packet = line.at("packet");
  stored.packet.mean = packet.at("mean").get<double>();
  stored.packet.error = packet.value("se", 0.0);
  stored.operations = packet.at("n").get<int>();
  stored.seeds = packet.value("k", 1);
  stored.line = line;
  return stored;
}

/// Seconds of wall time for a run of `packet` that is recorded.
constexpr double kMostSeconds = 600;

void record(StoredCase& stored, const Judge& judge, const Measure& measure) {
  if (kind_of(stored.scenario) == CliffKind::kCell)
    stored.seeds = std::max(stored.seeds, kFewSeeds);
  stored.packet = judge.mean_time("packet", stored.scenario, measure, stored.seeds);
  stored.line["packet"] = {{"mean", stored.packet.mean},
                           {"se", stored.packet.error},
                           {"n", stored.operations},
                           {"k", stored.seeds}};
}

int count_of(const std::vector<Operation>& operations, const Measure& measure) {
  return static_cast<int>(times_of(operations, measure).size());
}

std::string exactly(const std::string& name) {
  static const std::regex special(R"([.^$|()\[\]{}*+?\\])");
  return "^" + std::regex_replace(name, special, R"(\$&)") + "$";
}

std::string line_of(const StoredCase& stored, const Verdict& verdict) {
  char text[200];
  std::snprintf(text, sizeof text, "%-64.64s %11.6f s %11.6f s %+8.2f %%", stored.name.c_str(),
                verdict.flow.mean, verdict.packet.mean, 100 * verdict.error());
  std::string line = text;
  if (verdict.kind != CliffKind::kClean && verdict.errors() != 0) {
    std::snprintf(text, sizeof text, " %+6.1f s.e.", verdict.errors());
    line += text;
  }
  if (verdict.spread > 0) {
    std::snprintf(text, sizeof text, " (ns-3 itself: %.0f %%)", 100 * verdict.spread);
    line += text;
  }
  return line + (verdict.is_off() ? " OFF" : verdict.is_close() ? "" : " DIFFERS");
}

std::string text_of(const std::vector<StoredCase>& cases) {
  std::string text;
  for (const StoredCase& stored : cases) text += stored.line.dump() + "\n";
  return text;
}

/// A stored case against flow as it is.
class StoredRun {
 public:
  /// Both must outlive it; `say` is called from several threads.
  StoredRun(const CliffsOptions& options, const Say& say, Stop stop)
      : options_(options), say_(say), judge_(options.folder, std::move(stop), kMostSeconds) {}

  Verdict run(StoredCase& stored) const {
    const auto file =
        scenarios::read_scenario_text(stored.scenario.dump(), options_.folder + "/stored.json");
    const auto operations = run_operations(file.runs.at(0), "flow", 1);
    const Measure measure = fitted_measure(stored, operations);
    const int count = count_of(operations, measure);
    if (count != stored.operations)
      throw Error(ErrorKind::kScenario, "compare", stored.name,
                  std::to_string(count) + " operations have ended, the reference has " +
                      std::to_string(stored.operations));
    if (!options_.record_file.empty()) record(stored, judge_, measure);
    Verdict verdict;
    verdict.kind = kind_of(stored.scenario);
    verdict.packet = stored.packet;
    verdict.flow = judge_.mean_time("flow", stored.scenario, measure, stored.seeds);
    if (verdict.kind == CliffKind::kChance || verdict.is_close()) return verdict;
    try {
      judge_.measure_spread(stored.scenario, measure, verdict);
    } catch (const Error& error) {
      say_(stored.name + ": judged without ns-3's own spread: " + error.what());
    }
    return verdict;
  }

 private:
  const CliffsOptions& options_;
  const Say& say_;
  Judge judge_;
};

}  // namespace

std::vector<StoredCase> read_stored_cases(const std::string& text, const std::string& file) {
  std::vector<StoredCase> cases;
  std::size_t begin = 0;
  for (int number = 1; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      cases.push_back(case_of(ordered_json::parse(line)));
    } catch (const nlohmann::json::exception& error) {
      throw Error(ErrorKind::kScenario, "read line " + std::to_string(number) + " of", file,
                  error.what());
    }
  }
  return cases;
}

Measure fitted_measure(const StoredCase& stored, const std::vector<Operation>& operations) {
  Measure measure = stored.measure;
  if (!measure.only.empty() || count_of(operations, measure) <= stored.operations) return measure;
  std::map<std::string, double> first;  // start by name
  for (const Operation& each : operations) {
    const auto [at, fresh] = first.emplace(each.name, each.start);
    at->second = std::min(at->second, each.start);
  }
  std::string last;
  for (const auto& [name, start] : first) {
    measure.only = exactly(name);
    if (count_of(operations, measure) != stored.operations) continue;
    if (stored.name.find(name) != std::string::npos) return measure;
    if (last.empty() || start > first.at(last)) last = name;
  }
  measure.only = last.empty() ? "" : exactly(last);
  return measure;
}

CliffsResult bench_stored_cliffs(const CliffsOptions& options, const Say& say) {
  const std::regex only(options.only);
  std::vector<StoredCase> all =
      read_stored_cases(read_file(options.cases_file), options.cases_file);
  std::vector<StoredCase*> cases;
  for (StoredCase& stored : all)
    if (std::regex_search(stored.name, only)) cases.push_back(&stored);
  const runner::InterruptGuard guard;
  CliffsResult result;
  std::mutex mutex;
  const Say say_in_turn = [&](const std::string& message) {
    const std::lock_guard lock(mutex);
    say(message);
  };
  const StoredRun one(options, say_in_turn, [] { return runner::interrupted_by() != 0; });
  int close = 0, off = 0, failed = 0;
  in_two_threads(cases.size(), [&](std::size_t i) {
    if (runner::interrupted_by() != 0) return false;
    std::optional<Verdict> verdict;
    std::string why;
    try {
      verdict = one.run(*cases[i]);
    } catch (const std::exception& error) {
      why = error.what();
    }
    const std::lock_guard lock(mutex);
    if (runner::interrupted_by() != 0) return false;
    if (!verdict) {
      ++failed;
      say(cases[i]->name + ": not compared: " + why);
      return true;
    }
    close += verdict->is_close();
    off += verdict->is_off();
    if (options.list || !verdict->is_close()) say(line_of(*cases[i], *verdict));
    return true;
  });
  result.interrupted = runner::interrupted_by() != 0;
  if (!options.record_file.empty()) write_file(options.record_file, text_of(all));
  const int compared = static_cast<int>(cases.size()) - failed;
  result.rows = {{.name = "cliffs.stored.cases", .value = double(cases.size()), .unit = ""},
                 {.name = "cliffs.stored.not_compared", .value = double(failed), .bar = 0},
                 {.name = "cliffs.stored.close",
                  .value = compared > 0 ? double(close) / compared : 0,
                  .unit = "1",
                  .bar = kClose,
                  .at_most = false},
                 {.name = "cliffs.stored.off", .value = double(off), .bar = kExceptions}};
  result.rows = labelled(std::move(result.rows), "simulated");
  return result;
}

}  // namespace gradwire::bench
