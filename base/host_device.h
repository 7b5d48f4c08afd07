#pragma once
/// GRADWIRE_HD marks a function that is compiled for the host and, under nvcc, for the device too:
/// the arithmetic that codecs share between CPU and CUDA is written once and tested on the CPU.
#if defined(__CUDACC__)
#define GRADWIRE_HD __host__ __device__ __forceinline__
#else
#define GRADWIRE_HD inline
#endif
