#pragma once
#include <string>
#include <vector>

/// Programs of their own that measure a peer under another licence; they stand beside this one.
namespace gradwire::bench {

bool has_peer_program(const std::string& name);
/// What it printed. Throws Error if it fails.
std::string peer_program_output(const std::string& name, std::vector<std::string> arguments);

}  // namespace gradwire::bench
