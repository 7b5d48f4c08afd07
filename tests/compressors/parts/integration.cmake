gradwire_test(compressors_plan
  SOURCES clip_test.cc rules_test.cc codec_plan_test.cc
  LIBRARIES gradwire::compressors
  LABELS unit)
