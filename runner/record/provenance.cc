#include "runner/record/provenance.h"

#include <unistd.h>

#include <fstream>
#include <thread>

#ifndef GRADWIRE_COMMIT
#define GRADWIRE_COMMIT ""
#endif

namespace gradwire::runner {
namespace {

std::string processor_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

}  // namespace

std::string program_version() {
  const std::string commit = GRADWIRE_COMMIT;
  return std::string(GRADWIRE_VERSION) + (commit.empty() ? "" : " (" + commit + ")");
}

std::string machine_name() {
  char name[256] = "unknown host";
  ::gethostname(name, sizeof name - 1);
  return name;
}

std::string machine_description() {
  return machine_name() + ", " + processor_model() + " (" +
         std::to_string(std::thread::hardware_concurrency()) + " cores)";
}

}  // namespace gradwire::runner
