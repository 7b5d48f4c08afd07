#include "base/available_memory.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace gradwire {
namespace {

std::optional<std::int64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  if (file >> number) return number;
  return {};  // no such file, or "max"
}

std::int64_t of_machine() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word) {
    std::int64_t kilobytes = 0;
    if (word == "MemAvailable:" && file >> kilobytes) return 1024 * kilobytes;
  }
  return 0;
}

/// The folder of this process' control group (version 2), as seen from here.
std::string control_group() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("0::")) return "/sys/fs/cgroup" + line.substr(3);
  return "/sys/fs/cgroup";
}

}  // namespace

Bytes available_memory() {
  std::int64_t available = of_machine();
  const std::string group = control_group();
  const auto limit = number_in(group + "/memory.max"), used = number_in(group + "/memory.current");
  if (limit && used) available = std::min(available, std::max<std::int64_t>(*limit - *used, 0));
  return Bytes(available);
}

}  // namespace gradwire
