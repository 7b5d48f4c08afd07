gradwire_test(compressors_entropy
  SOURCES huffman_test.cc sz_test.cc
  LIBRARIES gradwire::compressors
  LABELS unit)
