#pragma once
#include <string>

/// Entering anonymous namespaces. They have no name and no mount: the kernel removes one, with all
/// its devices, when the last process in it ends, however it ends.
namespace gradwire::emulator {

/// The calling process (single-threaded) moves into its own user and network namespace, as user 0
/// of it; where only root may, as root, into a network namespace alone. Returns "user" or "root"
/// accordingly. Throws Error(kCapability) with the reason and what to do.
std::string enter_hub_namespace();

/// The calling process moves into a network namespace of its own; needs enter_hub_namespace() in a
/// parent.
void enter_network_namespace();

/// Writes one of /proc/sys/net of the process's own network namespace ("ipv4/tcp_wmem"); false if
/// the kernel refuses.
bool set_network_parameter(const std::string& name, const std::string& value);
/// The same of one without which times would be others than they should. Throws Error(kCapability)
/// if the kernel refuses and it has another value.
void require_network_parameter(const std::string& name, const std::string& value);

}  // namespace gradwire::emulator
