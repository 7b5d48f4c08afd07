list(APPEND compressors_sources codecs/packed_table.cc codecs/dense/sign.cc codecs/dense/ternary.cc codecs/dense/log.cc
  threshold_search.cc)
list(APPEND compressors_kernels kernels/lowbit.cc kernels/sign.cc kernels/ternary_threshold.cc)
list(APPEND compressors_codecs sign ternary log)
