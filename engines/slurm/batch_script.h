#pragma once
#include <string>

namespace gradwire::engines {

/// An array job whose tasks share out the runs that a folder of parts lists.
struct BatchJob {
  std::string sweep;    ///< its name
  std::string program;  ///< gradwire's path
  std::string folder;   ///< of parts, absolute
  int tasks = 1;
  int threads = 1;  ///< processors of a task
};

/// The script for sbatch. What a site asks for besides (partition, account, time limit) comes from
/// sbatch's own variables, SBATCH_PARTITION and others.
std::string batch_script(const BatchJob& job);

/// `text` as one word of a shell, whatever it holds.
std::string quoted(const std::string& text);

}  // namespace gradwire::engines
