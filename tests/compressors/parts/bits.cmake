gradwire_test(compressors_bits
  SOURCES
    binary_test.cc
    kbit_test.cc
    log_test.cc
    lowbit_test.cc
    sign_test.cc
    ternary_test.cc
    xnor_gemm_test.cc
  LIBRARIES gradwire::compressors
  LABELS unit)
