#pragma once
#include "compressors/layout/sections.h"

/// The payloads of `fp16` and `bf16`: 16 bits a value.
namespace gradwire::compressors {

using HalfLayout = Layout<Numbers<"values", std::uint16_t, EachElement>>;

}  // namespace gradwire::compressors
