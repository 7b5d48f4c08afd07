#include "compressors/coding/bit_instructions.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/bit_instructions.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

HWY_ATTR bool BitInstructions() {
  return HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors {
namespace kernels {
HWY_EXPORT(BitInstructions);
}

bool bit_instructions() {
  using namespace kernels;
  return HWY_DYNAMIC_DISPATCH(BitInstructions)();
}

}  // namespace gradwire::compressors
#endif
