#include "emulator/lab/lab_hosts.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "emulator/hub/namespaces.h"
#include "emulator/hub/tool.h"
#include "emulator/shaper/link_plan.h"
#include "emulator/shaper/wire_hosts.h"

namespace gradwire::emulator {
namespace {

FileDescriptor own_namespace() {
  FileDescriptor space(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!space.valid()) throw system_error("open", "/proc/thread-self/ns/net", errno);
  return space;
}

void enter_space(const FileDescriptor& space) {
  if (::setns(space.get(), CLONE_NEWNET) != 0)
    throw system_error("enter", "a host's network namespace", errno);
}

std::string host_script(int host, int hub, const std::vector<std::pair<int, int>>& peers) {
  std::string script = "link set lo up\nlink add eth0 address " + host_mac(host) +
                       " type veth peer name " + port_name(host) + " netns /proc/" +
                       std::to_string(::getpid()) + "/fd/" + std::to_string(hub) + "\naddr add " +
                       host_address(host) + "/16 dev eth0\n" + "link set eth0 mtu 1500 up\n";
  for (const auto& [a, b] : peers) {
    if (a != host && b != host) continue;
    const int other = a == host ? b : a;
    script += "neigh replace " + host_address(other) + " lladdr " + host_mac(other) +
              " dev eth0 nud permanent\n";
  }
  return script;
}

}  // namespace

LabHosts::LabHosts(int hosts, const std::vector<std::pair<int, int>>& peers, Bytes buffer)
    : hub_(own_namespace()) {
  set_network_parameter("ipv6/conf/all/disable_ipv6", "1");
  set_network_parameter("ipv6/conf/default/disable_ipv6", "1");
  for (int host = 0; host < hosts; ++host) make_host(host, peers, buffer);
  enter_hub();
  std::string up;
  for (int host = 0; host < hosts; ++host) up += "link set " + port_name(host) + " mtu 1500 up\n";
  require_tool("ip", {"-batch", "-"}, up, "set up", "the lab's links");
  for (int host = 0; host < hosts; ++host)
    devices_.push_back(static_cast<int>(::if_nametoindex(port_name(host).c_str())));
}

void LabHosts::make_host(int host, const std::vector<std::pair<int, int>>& peers, Bytes buffer) {
  enter_network_namespace();
  hosts_.push_back(own_namespace());
  set_tcp_parameters(buffer);
  require_tool("ip", {"-batch", "-"}, host_script(host, hub_.get(), peers), "create",
               "a host of the lab");
  cut_segments("eth0");
}

void LabHosts::enter(int host) const {
  enter_space(hosts_[static_cast<std::size_t>(host)]);
}

void LabHosts::enter_hub() const {
  enter_space(hub_);
}

}  // namespace gradwire::emulator
