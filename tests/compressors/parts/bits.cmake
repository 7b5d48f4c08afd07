gradwire_test(compressors_bits
  SOURCES
    log_test.cc
    lowbit_test.cc
    sign_test.cc
    ternary_test.cc
  LIBRARIES gradwire::compressors
  LABELS unit)
