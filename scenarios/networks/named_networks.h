#pragma once
#include <span>
#include <string>
#include <string_view>

#include "scenarios/document/overrides.h"

/// Networks of machines by name: what a link to the switch is like, and what it speaks.
namespace gradwire::scenarios {

struct NamedNetwork {
  std::string_view name;
  std::string_view bandwidth;  ///< of a link, each way
  std::string_view delay;      ///< one way, of a link: two of them between two hosts
  std::string_view protocol;   ///< /network/transport/protocol
  std::string_view source;     ///< of the figures
  std::string_view gpu = "";   ///< /network/library/gpu
};
std::span<const NamedNetwork> named_networks();

inline constexpr std::string_view kNvlinkNode = "nvlink-node";

/// "1gbe, 10gbe, ..."
std::string names_of_networks();

/// What --network NAME stands for: /network/link/bandwidth, /delay, the transport's protocol and
/// where that is rdma the library.
/// Throws Error for a name that nobody knows, with the nearest.
/// nvlink-node: what joins GPUs of the kind `device`; throws Error where that is not known.
Overrides overrides_of_network(std::string_view name, std::string_view device = "");

}  // namespace gradwire::scenarios
