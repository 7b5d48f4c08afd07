gradwire_test(compressors_coding
  SOURCES bit_stream_test.cc
  LIBRARIES gradwire::compressors
  LABELS unit)
