#pragma once
#include <string>

#include "scenarios/profiles/profile.h"

namespace gradwire::scenarios {

/// The text of a profile's file, which load_workload_profile and load_device_profile read back.
std::string profile_text(const WorkloadProfile& profile);
std::string profile_text(const DeviceProfile& profile);

}  // namespace gradwire::scenarios
