#pragma once
#include <string>

#include "scenarios/profiles/profile.h"

/// Shipped profiles, each read once however many rows name it.
namespace gradwire::bench {

/// Null where no such profile ships.
const scenarios::DeviceProfile* shipped_device(const std::string& name);
const scenarios::WorkloadProfile* shipped_layer_table(const std::string& name);

}  // namespace gradwire::bench
