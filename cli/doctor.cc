#include <dlfcn.h>
#include <unistd.h>

#include "base/child_process.h"
#include "base/program_part.h"
#include "cli/context.h"
#include "cli/emulation/emulator_module.h"
#include "cli/output/table.h"
#include "compressors/instruction_sets.h"
#include "engines/mpi/mpi_engine.h"
#include "engines/slurm/queue.h"
#include "runner/training/trainer_module.h"

namespace gradwire::cli {
namespace {

struct Finding {
  bool ok = false;
  std::string reason;
};

Finding built_program(const char* name, const char* part, const char* why_not) {
  const std::string path = executable_folder() + "/" + name;
  if (::access(path.c_str(), X_OK) == 0) return {true, path};
  if (is_installed()) return {false, part_advice(part)};
  return {false, *why_not ? why_not : "./gradwire builds it at its first use: " + path};
}

/// How the program came here, and where an installed one has the libraries of wheels.
Finding installation() {
  if (!is_installed()) return {true, "built in place, " + executable_folder()};
  std::string text = "installed, " + executable_folder();
  for (const char* name : {"training", "packet"}) {
    const std::string folder = wheels_folder(name);
    text += std::string("; ") + (name == std::string("training") ? "LibTorch" : "ns-3") + " " +
            (folder.empty() ? "is fetched at its first use" : "in " + folder);
  }
  return {true, text};
}

Finding training() {
  try {
    runner::trainer_module_symbol(scenarios::kTrainerFactorySymbol);
    return {true, runner::trainer_module_path()};
  } catch (const Error& error) {
    return {false, error.what()};
  }
}

Finding cuda() {
  void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY);
  if (!driver) return {false, "no NVIDIA driver: libcuda.so.1 was not found"};
  return {true, std::string("driver found; CUDA codecs ") +
                    (*GRADWIRE_WHY_NOT_CUDA ? GRADWIRE_WHY_NOT_CUDA : "built")};
}

Finding instructions() {
  std::string others;
  for (const std::string& name : compressors::instruction_sets())
    if (name != compressors::instruction_set()) others += (others.empty() ? "" : ", ") + name;
  return {true, compressors::instruction_set() + (others.empty() ? "" : "; also " + others)};
}

Finding emulation() {
  if (*GRADWIRE_WHY_NOT_EMULATOR) return {false, GRADWIRE_WHY_NOT_EMULATOR};
  try {
    emulator::EmulatorOptions options;
    options.rtt_rounds = 1;
    const auto trial = cli::make_emulator(sim::Cluster::star(2, {}), options);
    const emulator::EmulatorReport& report = trial->report();
    return {true, "namespaces of " + report.name_space + ", rate by " + report.shaper +
                      (report.delay_by == "netem" ? ", delay by netem"
                                                  : ", delay by the link process (no netem)")};
  } catch (const Error& error) {
    return {false, error.what()};
  }
}

Finding mpi() {
  if (*GRADWIRE_WHY_NOT_MPI) return {false, GRADWIRE_WHY_NOT_MPI};
  try {
    return {true, engines::require_mpi() + " under mpirun"};
  } catch (const Error& error) {
    return {false, error.what()};
  }
}

Finding slurm() {
  try {
    engines::require_slurm();
    return {true, "sbatch, squeue and scancel are in PATH"};
  } catch (const Error& error) {
    return {false, error.what()};
  }
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("doctor", "What works on this machine, and why something is off");
  command->callback([&context] {
    never_build_parts();
    Table table(
        {{"name", "capability"},
         {.name = "on", .importance = Importance::kKey},
         {.name = "detail", .title = "path, or why it is off", .importance = Importance::kKey}});
    const auto add = [&](const char* name, const Finding& finding) {
      table.add({std::string(name), finding.ok, finding.reason});
    };
    add("installation", installation());
    add("training (LibTorch 2.11)", training());
    add("codecs' instruction set", instructions());
    add("CUDA", cuda());
    add("packet executor (ns-3 3.44)",
        built_program("gradwire-packet", "packet", GRADWIRE_WHY_NOT_NS3));
    add("emulator (namespaces)", emulation());
    add("sweeps on MPI (Open MPI 4.1)", mpi());
    add("sweeps on Slurm", slurm());
    add("desktop program (Qt 6)", built_program("gradwire-gui", "gui", GRADWIRE_WHY_NOT_GUI));
    table.print(context);
  });
}

}  // namespace gradwire::cli
