#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/child_process.h"

/// `emulate --hosts`: worker processes on machines of their own.
namespace gradwire::cli {

/// Of a process that mpirun or srun started.
struct RankPlace {
  int rank = 0, size = 1;
  bool one_machine = false;  ///< all ranks are on this one
  std::string job;           ///< names the job; may be empty
};
/// By the variables of Open MPI, PMI (MPICH, Intel MPI) or Slurm; nothing: no such process.
std::optional<RankPlace> rank_place();

/// What `--hosts` and `--rendezvous` come to.
class RankHosts {
 public:
  /// `hosts`: "mpi" or names separated by commas. Throws Error(kUsage).
  RankHosts(const std::string& hosts, const std::string& rendezvous);

  /// This process is a worker alone: it becomes one, and this does not return. Else returns at
  /// once.
  void become_worker() const;
  /// Where workers come to, "host:port".
  const std::string& rendezvous() const { return rendezvous_; }
  /// How many there are.
  int size() const { return size_; }
  /// Starts those that nobody else starts; they end with the run, or with this object.
  void start();

 private:
  std::vector<std::string> names_;  ///< empty: ranks of mpirun or srun
  std::optional<RankPlace> place_;
  std::string rendezvous_;
  int size_ = 0;
  std::vector<ChildProcess> workers_;
};

}  // namespace gradwire::cli
