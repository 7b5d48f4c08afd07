gradwire_test(compressors_floats
  SOURCES
    bf16_test.cc
    bit_packing_test.cc
    dither_test.cc
    fp16_test.cc
    kernels_test.cc
    natural_test.cc
    ordered_sum_test.cc
    philox_test.cc
    sum_terms_test.cc
    terngrad_test.cc
    threads_test.cc
    trits_test.cc
  LIBRARIES gradwire::compressors
  LABELS unit)
