#pragma once
#include "compressors/codecs/terngrad/kernel.h"
#include "compressors/kernels/half.h"
#include "compressors/kernels/magnitude.h"
#include "compressors/kernels/moments.h"
#include "compressors/kernels/philox.h"

/// The inner loops of the CPU codecs, compiled for several instruction sets and chosen at run time.
/// Every instruction set gives the same bits. No alignment is required; buffers do not overlap.
