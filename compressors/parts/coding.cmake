list(APPEND compressors_sources
  codecs/sparse/csr.cc
  codecs/sparse/fastsgd_r.cc
  codecs/sparse/hquant.cc
  codecs/sparse/masked.cc
  codecs/sparse/stc.cc
  coding/golomb_rice.cc
  coding/index_coder.cc
  coding/index_walk.cc)
list(APPEND compressors_kernels kernels/bit_instructions.cc)
list(APPEND compressors_codecs stc fastsgd_r hquant csr masked)
