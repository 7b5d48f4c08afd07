gradwire_test(compressors_levels
  SOURCES levels_test.cc minmax_test.cc int8_test.cc qsgd_test.cc rowquant_test.cc elias_test.cc
  LIBRARIES gradwire::compressors
  LABELS unit)
