#include "trainers/timing/measure.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <fstream>

#include "base/error.h"
#include "base/temporary_file.h"
#include "trainers/passes/replica.h"

namespace gradwire::trainers {

MachineLock::MachineLock() {
  const std::string path = temporary_root() + "/gradwire-measure.lock";
  // Another user's file first: creating what exists in a sticky folder is refused by the kernel.
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fd = open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) throw system_error("open", path, errno);
  file_ = FileDescriptor(fd);
  while (flock(file_.get(), LOCK_EX) != 0) {
    if (errno != EINTR) throw system_error("lock", path, errno);
  }
}

Spread spread_of(std::vector<double> values) {
  GRADWIRE_ASSERT(!values.empty());
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double share) {
    const double at = share * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::size_t>(at);
    const std::size_t high = std::min(low + 1, values.size() - 1);
    return values[low] + (at - std::floor(at)) * (values[high] - values[low]);
  };
  const double median = quantile(0.5);
  return {median, median > 0 ? (quantile(0.75) - quantile(0.25)) / median : 0.0};
}

Seconds time_of(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

Seconds median_time(int repetitions, const std::function<void()>& call) {
  call();
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) times.push_back(time_of(call).value());
  return Seconds(spread_of(times).median);
}

std::string cpu_model_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

}  // namespace gradwire::trainers
