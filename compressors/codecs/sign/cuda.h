#pragma once
#include "compressors/cuda/launchers.h"

/// Launches of `sign`, as compressors/cuda/launchers.h describes them.
namespace gradwire::compressors::cuda {

struct SignFormat {
  std::uint64_t block;  ///< elements of a block, > 0
  bool scaled;
};
std::size_t sign_scratch(std::uint64_t n, const SignFormat& format);
void sign_encode(Encodes from, const SignFormat& format);
void sign_decode(Decodes to, const SignFormat& format);

}  // namespace gradwire::compressors::cuda
