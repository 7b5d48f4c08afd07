#include "bridge/processes.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

namespace gradwire::bridge {
namespace {

using Clock = std::chrono::steady_clock;

struct Stat {
  pid_t parent = 0;
  char state = '?';
  Seconds cpu{0};
};

/// Of /proc/PID/stat: what follows the name, which may hold anything, parentheses too.
std::optional<Stat> stat_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(file, line) || line.rfind(')') == std::string::npos) return std::nullopt;
  std::istringstream rest(line.substr(line.rfind(')') + 1));
  Stat stat;
  std::string skipped;
  rest >> stat.state >> stat.parent;
  for (int field = 5; field < 14; ++field) rest >> skipped;
  double user = 0, system = 0;
  rest >> user >> system;
  stat.cpu = Seconds((user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK)));
  return stat;
}

std::map<pid_t, Stat> all_processes() {
  std::map<pid_t, Stat> found;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto process = static_cast<pid_t>(std::stol(name));
    if (const auto stat = stat_of(process)) found[process] = *stat;
  }
  return found;
}

bool is_below(const std::map<pid_t, Stat>& all, pid_t process, pid_t ancestor) {
  for (int depth = 0; depth < 1000; ++depth) {
    const auto found = all.find(process);
    if (found == all.end() || found->second.parent == 0) return false;
    process = found->second.parent;
    if (process == ancestor) return true;
  }
  return false;
}

/// Takes what has ended of this process's children; but not `spare`.
void reap(pid_t spare) {
  for (const auto& [process, stat] : all_processes())
    if (stat.state == 'Z' && stat.parent == ::getpid() && process != spare)
      ::waitpid(process, nullptr, WNOHANG);
}

}  // namespace

std::map<pid_t, ProcessUse> process_uses(std::span<const pid_t> processes) {
  const auto all = all_processes();
  std::map<pid_t, ProcessUse> uses;
  for (const pid_t process : processes) {
    const auto self = all.find(process);
    if (self == all.end() || self->second.state == 'Z') continue;
    ProcessUse& use = uses[process];
    use.stopped = self->second.state == 'T' || self->second.state == 't';
    use.cpu = self->second.cpu;
    for (const auto& [other, stat] : all)
      if (is_below(all, other, process)) use.cpu += stat.cpu;
  }
  return uses;
}

std::vector<pid_t> descendants_of(pid_t ancestor) {
  const auto all = all_processes();
  std::vector<pid_t> living;
  for (const auto& [process, stat] : all)
    if (stat.state != 'Z' && is_below(all, process, ancestor)) living.push_back(process);
  return living;
}

FamilyKeeper::FamilyKeeper() {
  ::prctl(PR_GET_CHILD_SUBREAPER, &before_, 0, 0, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

FamilyKeeper::~FamilyKeeper() {
  ::prctl(PR_SET_CHILD_SUBREAPER, before_, 0, 0, 0);
}

void FamilyKeeper::end_all(std::chrono::milliseconds grace, pid_t spare) const {
  const Clock::time_point deadline = Clock::now() + grace;
  for (const pid_t process : descendants_of(::getpid())) ::kill(process, SIGTERM);
  for (int rounds = 0; rounds < 500; ++rounds) {
    const auto left = descendants_of(::getpid());
    reap(spare);
    if (left.empty()) return;
    if (Clock::now() >= deadline)
      for (const pid_t process : left) ::kill(process, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace gradwire::bridge
