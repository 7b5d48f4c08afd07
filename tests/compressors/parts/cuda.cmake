gradwire_test(compressors_arithmetic
  SOURCES shared_arithmetic_test.cc
  LIBRARIES gradwire::compressors
  LABELS unit)
gradwire_test(compressors_cuda_sizes
  SOURCES cuda_sizes_test.cc
  LIBRARIES gradwire::compressors gradwire::compressors_cuda
  LABELS unit)
