#pragma once
#include <string>

namespace gradwire::runner {

/// "0.1.0 (a1b2c3d)": the version, and the commit it was built from where known.
std::string program_version();
std::string machine_name();
/// Machine name and processor model: "host, AMD EPYC 7B13 (2 cores)".
std::string machine_description();

}  // namespace gradwire::runner
