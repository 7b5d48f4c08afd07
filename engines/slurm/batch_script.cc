#include "engines/slurm/batch_script.h"

#include <cctype>

namespace gradwire::engines {
namespace {

/// As much of it as a job's name takes.
std::string plain(const std::string& text) {
  std::string name;
  for (const char letter : text) {
    const bool fine = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '-' ||
                      letter == '_' || letter == '.';
    name += fine ? letter : '_';
  }
  return name;
}

}  // namespace

std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char letter : text)
    word += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return word + "'";
}

std::string batch_script(const BatchJob& job) {
  const std::string tasks = std::to_string(job.tasks);
  return "#!/bin/bash\n"
         "# Written by gradwire run --engine slurm: runs of the sweep " +
         plain(job.sweep) + ", shared out to " + tasks +
         " tasks.\n"
         "# It tells sbatch nothing of partition, account or time: SBATCH_PARTITION,\n"
         "# SBATCH_ACCOUNT, SBATCH_TIMELIMIT and so on do.\n"
         "#SBATCH --job-name=gradwire-" +
         plain(job.sweep) +
         "\n"
         "#SBATCH --array=0-" +
         std::to_string(job.tasks - 1) +
         "\n"
         "#SBATCH --ntasks=1\n"
         "#SBATCH --cpus-per-task=" +
         std::to_string(job.threads) +
         "\n"
         "#SBATCH --no-requeue\n"
         "exec " +
         quoted(job.program) + " task " + quoted(job.folder) +
         " --index \"$SLURM_ARRAY_TASK_ID\" --of " + tasks + "\n";
}

}  // namespace gradwire::engines
