#include "emulator/shaper/wire_hosts.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "emulator/hub/namespaces.h"
#include "emulator/shaper/link_plan.h"

namespace gradwire::emulator {

std::string wire_hub_script(const std::vector<int>& pids) {
  const std::string probe = kProbeDevice, peer = kProbePeer;
  std::string script = "link set lo up\nlink add " + probe + " type veth peer name " + peer +
                       "\nlink set " + probe + " mtu 1500 up\nlink set " + peer + " mtu 1500 up\n";
  for (std::size_t h = 0; h < pids.size(); ++h) {
    const int host = static_cast<int>(h);
    script += "link add " + port_name(host) + " address " + port_mac(host) +
              " type veth peer name eth0 address " + host_mac(host) + " netns " +
              std::to_string(pids[h]) + "\nlink set " + port_name(host) + " mtu 1500 up\n";
  }
  return script;
}

std::string wire_host_script(int host, int hosts) {
  return "link set lo up\naddr add " + host_address(host) +
         "/16 dev eth0\nlink set eth0 mtu 1500 up\n" + neighbours_script(host, hosts);
}

void set_tcp_parameters(Bytes buffer) {
  const std::string bytes = std::to_string(2 * buffer.count());
  const std::string range = "4096 " + bytes + " " + bytes;
  require_network_parameter("ipv4/tcp_rmem", range);
  require_network_parameter("ipv4/tcp_wmem", range);
  require_network_parameter("ipv4/tcp_no_metrics_save", "1");
  set_network_parameter("ipv6/conf/all/disable_ipv6", "1");
}

void cut_segments(const char* device) {
  const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  for (const std::uint32_t feature : {ETHTOOL_STSO, ETHTOOL_SGSO}) {
    ethtool_value value{feature, 0};
    ifreq request{};
    std::strncpy(request.ifr_name, device, IFNAMSIZ - 1);
    request.ifr_data = reinterpret_cast<char*>(&value);
    if (::ioctl(socket.get(), SIOCETHTOOL, &request) != 0)
      throw Error(ErrorKind::kCapability, "turn off", "segmentation offload of a host's device",
                  std::strerror(errno));
  }
}

}  // namespace gradwire::emulator
