#include "engines/mpi/mpi_engine.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/child_process.h"
#include "base/program_part.h"
#include "engines/mpi/mpirun.h"
#include "engines/report_lines.h"
#include "engines/shared_sweep.h"
#include "engines/tool.h"
#include "runner/interrupt.h"

namespace gradwire::engines {
namespace {

/// One start of mpirun, until all ranks have ended.
class Start {
 public:
  Start(SharedSweep& sweep, const std::string& program, int processes)
      : sweep_(sweep), ranks_(processes, program, sweep.folder().path()) {}

  void follow() {
    const int code = ranks_.follow([this](const std::string& line) { on_line(line); },
                                   [this] { stop_if_asked(); });
    const std::string said = ranks_.last_words();
    const std::string words = "mpirun ended with exit code " + std::to_string(code) +
                              (said.empty() ? "" : " and says: " + said);
    if (!ready_ && !sweep_.wants_stop())
      throw Error(ErrorKind::kCapability, "start ranks with", "mpirun", words,
                  "try `mpirun -n 2 hostname`, see docs/clusters.md, or leave out --engine mpi");
    sweep_.end_of_processes(words);
  }

 private:
  void stop_if_asked() {
    if (stopping_ || !sweep_.wants_stop()) return;
    stopping_ = true;
    sweep_.stop();
    ranks_.say("stop");
  }

  /// Of the first rank; what is no such object was printed by a library, and is nobody's.
  void on_line(const std::string& text) {
    const nlohmann::json line = nlohmann::json::parse(text, nullptr, false);
    if (!line.is_object() || !line.contains("type")) return;
    const std::string type = line.at("type");
    if (type == "hello") ready_ = true;
    if (type == "given") sweep_.note_given(rank_of(line), places_of(line));
    if (type == "progress") sweep_.observer().on_progress(progress_of(line));
    if (type == "forecast") sweep_.observer().on_forecast(progress_of(line), forecast_of(line));
    if (type == "part") sweep_.take(rank_of(line), part_of(line));
    if (type == "error") sweep_.give_up(error_of(line));
  }

  SharedSweep& sweep_;
  Mpirun ranks_;
  bool ready_ = false, stopping_ = false;
};

}  // namespace

std::string require_mpi() {
  const std::string program = part_path("mpi", "gradwire-mpi");
  if (::access(program.c_str(), X_OK) != 0)
    throw Error(ErrorKind::kCapability, "run a sweep with MPI:", program, "it is not there",
                is_installed()
                    ? part_advice("mpi")
                    : "install libopenmpi-dev and openmpi-bin, and " + part_advice("mpi"));
  if (find_in_path("mpirun").empty())
    throw Error(ErrorKind::kCapability, "run a sweep with MPI:", "mpirun", "it is not in PATH",
                "install openmpi-bin, or add its folder to PATH");
  if (run_tool({"mpirun", "--version"}).out.find("Open MPI") == std::string::npos)
    throw Error(ErrorKind::kCapability, "run a sweep with MPI:", "mpirun",
                "it is another MPI's, and the ranks are started as Open MPI has it",
                "put Open MPI's mpirun first in PATH");
  return program;
}

runner::SweepResult run_with_mpi(const scenarios::ScenarioFile& file, const EngineOptions& options,
                                 results::Store& store, runner::RunObserver& observer) {
  const std::string program = require_mpi();
  const runner::InterruptGuard guard;
  SharedSweep sweep(file, options, store, observer);
  sweep.begin();
  while (sweep.goes_on()) {
    const std::size_t runs = sweep.write_work();
    // Without a number mpirun takes all slots that it is given.
    Start(sweep, program, options.processes == 0 ? 0 : sweep.processes(runs, 1)).follow();
  }
  return sweep.finish();
}

}  // namespace gradwire::engines
