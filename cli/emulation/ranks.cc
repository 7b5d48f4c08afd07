#include "cli/emulation/ranks.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>

#include "base/environment.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/program_part.h"

namespace gradwire::cli {
namespace {

std::optional<int> number_in(const char* name) {
  const std::string text = environment_variable(name);
  if (text.empty() || text.find_first_not_of("0123456789") != text.npos || text.size() > 6)
    return std::nullopt;
  return std::stoi(text);
}

/// Names of variables: rank, size, ranks on this machine (or machines of the job), the job.
struct Launcher {
  const char *rank, *size, *here, *machines, *job;
};
constexpr Launcher kLaunchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "",
     "PMIX_NAMESPACE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "", "PMI_JOBID"},
    {"SLURM_PROCID", "SLURM_NTASKS", "", "SLURM_NNODES", "SLURM_JOB_ID"}};

bool is_here(const std::string& name) {
  return name == "localhost" || name == "127.0.0.1";
}

/// The same in all processes of a job; jobs side by side on a machine have others, most likely.
std::string usual_rendezvous(const std::string& job) {
  constexpr std::uint64_t kFirst = 20'000, kPorts = 10'000;
  Hasher hasher;
  hasher.add_text(job);
  return "127.0.0.1:" + std::to_string(kFirst + hasher.value() % kPorts);
}

std::string worker_program() {
  return part_path_or("GRADWIRE_EMULATOR_PROGRAM", "emulator", "gradwire-emulator-hub");
}

[[noreturn]] void refuse(const std::string& subject, const std::string& reason,
                         const std::string& remedy) {
  throw Error(ErrorKind::kUsage, "take", subject, reason, remedy);
}

}  // namespace

std::optional<RankPlace> rank_place() {
  for (const Launcher& launcher : kLaunchers) {
    const auto rank = number_in(launcher.rank), size = number_in(launcher.size);
    if (!rank || !size) continue;
    const bool here = number_in(launcher.here) == size || number_in(launcher.machines) == 1;
    return RankPlace{*rank, *size, here, environment_variable(launcher.job)};
  }
  return std::nullopt;
}

RankHosts::RankHosts(const std::string& hosts, const std::string& rendezvous)
    : rendezvous_(rendezvous) {
  const std::string subject = "--hosts " + hosts;
  bool one_machine = false;
  std::string job = std::to_string(::getpid());
  if (hosts == "mpi") {
    place_ = rank_place();
    if (!place_)
      refuse(subject, "this process is no rank of mpirun or srun",
             "start it as mpirun -n N gradwire emulate SCENARIO --hosts mpi");
    size_ = place_->size;
    one_machine = place_->one_machine;
    job = place_->job;
  } else {
    std::istringstream list(hosts);
    for (std::string name; std::getline(list, name, ',');)
      if (!name.empty()) names_.push_back(name);
    for (const std::string& name : names_)
      if (name.starts_with("-"))
        refuse(subject, "\"" + name + "\" is an option of ssh, no host",
               "separate names by commas");
    if (names_.empty()) refuse(subject, "it names no host", "separate names by commas");
    size_ = static_cast<int>(names_.size());
    one_machine = std::ranges::all_of(names_, is_here);
  }
  if (!rendezvous_.empty()) return;
  if (!one_machine)
    refuse(subject, "workers on other machines have to know where to come to",
           "add --rendezvous HOST:PORT, an address of this machine (of rank 0's) that all reach");
  rendezvous_ = usual_rendezvous(job);
}

void RankHosts::become_worker() const {
  if (!place_ || place_->rank == 0) return;
  const std::string program = worker_program(), rank = std::to_string(place_->rank);
  ::execl(program.c_str(), program.c_str(), "rank", rank.c_str(), rendezvous_.c_str(), nullptr);
  throw system_error("start", program, errno);
}

void RankHosts::start() {
  const std::string program = worker_program();
  const auto add = [&](std::vector<std::string> command, int rank) {
    for (const std::string& word :
         {program, std::string("rank"), std::to_string(rank), rendezvous_})
      command.push_back(word);
    workers_.emplace_back(command, ChildProcess::Options{});
  };
  if (place_) return add({}, 0);
  for (int rank = 0; rank < size_; ++rank) {
    const std::string& name = names_[static_cast<std::size_t>(rank)];
    is_here(name) ? add({}, rank)
                  : add({"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=8", name}, rank);
  }
}

}  // namespace gradwire::cli
