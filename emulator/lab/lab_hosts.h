#pragma once
#include <string>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "base/units.h"

namespace gradwire::emulator {

/// Network namespaces of the lab's hosts, each joined to the lab's own by a veth pair. They end
/// with the process.
class LabHosts {
 public:
  /// The calling process has entered its own namespace (namespaces.h) and has one thread.
  /// `peers`: pairs of hosts that talk. `buffer`: of sockets.
  LabHosts(int hosts, const std::vector<std::pair<int, int>>& peers, Bytes buffer);

  /// Interface index, in the lab's namespace, of the way to a host.
  const std::vector<int>& devices() const { return devices_; }
  /// The calling thread makes its sockets there from now on; hub(): in the lab's own.
  void enter(int host) const;
  void enter_hub() const;

 private:
  void make_host(int host, const std::vector<std::pair<int, int>>& peers, Bytes buffer);

  FileDescriptor hub_;
  std::vector<FileDescriptor> hosts_;
  std::vector<int> devices_;
};

}  // namespace gradwire::emulator
