gradwire_test(compressors_bits
  SOURCES
    sign_test.cc
  LIBRARIES gradwire::compressors
  LABELS unit)
