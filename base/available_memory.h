#pragma once
#include "base/units.h"

namespace gradwire {

/// What this process can still take without swapping, by the kernel's count and by the limit of its
/// control group; 0 where the system does not say.
Bytes available_memory();

}  // namespace gradwire
