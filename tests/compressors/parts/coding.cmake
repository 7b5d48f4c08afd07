gradwire_test(compressors_coding
  SOURCES bit_stream_test.cc golomb_rice_test.cc index_coder_test.cc
  LIBRARIES gradwire::compressors
  LABELS unit)
