#include "emulator/hub/namespaces.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <span>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "base/file_descriptor.h"

namespace gradwire::emulator {
namespace {

bool write_text(const std::string& path, const std::string& text) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file.valid() &&
         ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::string first_line(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char text[64] = {};
  if (!file.valid() || ::read(file.get(), text, sizeof text - 1) <= 0) return {};
  return std::string(text, std::strcspn(text, "\n"));
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// Which switch of this machine forbids it, as far as we know the usual ones.
std::string remedy() {
  if (first_line("/proc/sys/kernel/unprivileged_userns_clone") == "0")
    return "sudo sysctl kernel.unprivileged_userns_clone=1";
  if (first_line("/proc/sys/user/max_user_namespaces") == "0")
    return "sudo sysctl user.max_user_namespaces=10000";
  if (first_line("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1")
    return "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0";
  if (first_line("/proc/sys/user/max_net_namespaces") == "0")
    return "sudo sysctl user.max_net_namespaces=10000";
  return "run where user namespaces are allowed (a container needs --privileged or "
         "--cap-add SYS_ADMIN,NET_ADMIN), or use --executor flow or packet";
}

[[noreturn]] void refuse(const std::string& subject, const std::string& reason) {
  throw Error(ErrorKind::kCapability, "create", subject, reason, remedy());
}

void map_to_root(uid_t user, gid_t group) {
  write_text("/proc/self/setgroups", "deny");  // absent before Linux 3.19, and needed since
  if (!write_text("/proc/self/uid_map", "0 " + std::to_string(user) + " 1") ||
      !write_text("/proc/self/gid_map", "0 " + std::to_string(group) + " 1"))
    refuse("a user namespace",
           std::string("its user map cannot be written: ") + std::strerror(errno));
}

}  // namespace

std::string enter_hub_namespace() {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0) {
    map_to_root(user, group);
    return "user";
  }
  const int reason = errno;
  if (user == 0 && ::unshare(CLONE_NEWNET) == 0) return "root";
  refuse("a user and network namespace", reason == ENOSPC
                                             ? "this machine's limit on namespaces is reached"
                                             : std::strerror(reason));
}

void enter_network_namespace() {
  if (::unshare(CLONE_NEWNET) != 0) refuse("a worker's network namespace", std::strerror(errno));
}

bool set_network_parameter(const std::string& name, const std::string& value) {
  return write_text("/proc/sys/net/" + name, value);
}

void require_network_parameter(const std::string& name, const std::string& value) {
  const std::string path = "/proc/sys/net/" + name;
  if (write_text(path, value)) return;
  const int reason = errno;
  if (words_of(first_line(path)) == words_of(value)) return;
  throw Error(ErrorKind::kCapability, "set", path + " of an emulated host", std::strerror(reason),
              "run where /proc/sys may be written (a container needs --privileged), or use "
              "--executor flow or packet");
}

}  // namespace gradwire::emulator
