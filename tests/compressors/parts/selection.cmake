gradwire_test(compressors_selection
  SOURCES dgc_test.cc momentum_correction_test.cc randomk_test.cc selection_test.cc
  LIBRARIES gradwire::compressors
  LABELS unit)
