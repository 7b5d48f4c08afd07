gradwire_test(compressors_coding
  SOURCES
    bit_stream_test.cc
    csr_test.cc
    fastsgd_r_test.cc
    golomb_rice_test.cc
    hquant_test.cc
    index_coder_test.cc
    masked_test.cc
    stc_test.cc
  LIBRARIES gradwire::compressors
  LABELS unit)
