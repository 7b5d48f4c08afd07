#pragma once
#include <optional>
#include <string>

/// Slurm's commands, by their output.
namespace gradwire::engines {

/// Throws Error(kCapability), saying what to install, where sbatch, squeue or scancel is missing.
void require_slurm();

/// Submits the script; tasks write what they say to files in `logs`. Gives the job's number. Throws
/// Error(kCapability) with sbatch's own words.
std::string submit(const std::string& script, const std::string& logs);

/// How many tasks of a job are in which state: "3 running, 1 pending"; empty where the job has left
/// the queue; none where nobody answers.
std::optional<std::string> states_of(const std::string& job);

/// Asks for the end of a job's tasks.
void cancel(const std::string& job);

}  // namespace gradwire::engines
