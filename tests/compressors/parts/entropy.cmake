gradwire_test(compressors_entropy
  SOURCES huffman_test.cc powersgd_test.cc sz_test.cc
  LIBRARIES gradwire::compressors
  LABELS unit)
if(TARGET test_compressors_entropy)
  target_include_directories(test_compressors_entropy SYSTEM PRIVATE ${GRADWIRE_EIGEN_INCLUDE})
endif()
