list(APPEND compressors_sources codecs/level_coding.cc codecs/dense/minmax.cc codecs/dense/int8.cc codecs/dense/qsgd.cc
  codecs/dense/rowquant.cc
  coding/elias.cc)
list(APPEND compressors_kernels kernels/levels_decode.cc kernels/levels_encode.cc
  kernels/levels_norm.cc kernels/levels_pack.cc kernels/levels_range.cc)
list(APPEND compressors_codecs minmax int8 qsgd rowquant)
