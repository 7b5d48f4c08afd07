#pragma once
#include "compressors/layout/sections.h"

/// The payload of `none`: binary32, little-endian.
namespace gradwire::compressors {

using NoneLayout = Layout<Numbers<"values", float, EachElement>>;

}  // namespace gradwire::compressors
