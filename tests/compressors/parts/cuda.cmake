gradwire_test(compressors_arithmetic
  SOURCES shared_arithmetic_test.cc
  LIBRARIES gradwire::compressors
  LABELS unit)
