gradwire_test(compressors_floats
  SOURCES
    philox_test.cc
  LIBRARIES gradwire::compressors
  LABELS unit)
