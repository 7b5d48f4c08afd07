#pragma once
#include "compressors/codecs/sign/layout.h"
#include "compressors/cuda/launchers.h"

/// Launches of `sign`, as compressors/cuda/launchers.h describes them.
namespace gradwire::compressors::cuda {

std::size_t sign_scratch(std::uint64_t n, const SignLayout& layout);
void sign_encode(Encodes from, const SignLayout& layout);
void sign_decode(Decodes to, const SignLayout& layout);

}  // namespace gradwire::compressors::cuda
