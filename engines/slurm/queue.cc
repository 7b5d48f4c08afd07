#include "engines/slurm/queue.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "base/child_process.h"
#include "base/error.h"
#include "engines/tool.h"

namespace gradwire::engines {

void require_slurm() {
  for (const char* name : {"sbatch", "squeue", "scancel"})
    if (find_in_path(name).empty())
      throw Error(ErrorKind::kCapability, "run a sweep with Slurm:", name, "it is not in PATH",
                  "run this on a machine of the cluster from which jobs are submitted (Debian: "
                  "package slurm-client)");
}

std::string submit(const std::string& script, const std::string& logs) {
  const ToolResult result =
      run_tool({"sbatch", "--parsable", "--output=" + logs + "/slurm-%A_%a.log", script});
  // "JOB" or "JOB;CLUSTER"
  const std::string job = result.out.substr(0, result.out.find(';'));
  const bool number =
      !job.empty() && std::ranges::all_of(job, [](unsigned char c) { return std::isdigit(c); });
  if (result.exit_code != 0 || !number)
    throw Error(ErrorKind::kCapability, "submit the job of", script,
                "sbatch says: " + (result.err.empty() ? result.out : result.err),
                "partition, account and time limit are taken from SBATCH_PARTITION, "
                "SBATCH_ACCOUNT, SBATCH_TIMELIMIT");
  return job;
}

std::optional<std::string> states_of(const std::string& job) {
  const ToolResult result =
      run_tool({"squeue", "--noheader", "--array", "--jobs=" + job, "--format=%T"});
  if (result.exit_code != 0) {
    // A job that has ended a while ago is not known any more.
    if (result.err.find("Invalid job id") != std::string::npos) return "";
    return std::nullopt;
  }
  std::map<std::string, int> counts;
  std::istringstream lines(result.out);
  for (std::string state; std::getline(lines, state);) ++counts[state];
  std::string text;
  for (const auto& [state, count] : counts) {
    std::string word = state;
    std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + word;
  }
  return text;
}

void cancel(const std::string& job) {
  run_tool({"scancel", job});
}

}  // namespace gradwire::engines
