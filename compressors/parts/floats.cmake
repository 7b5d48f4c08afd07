list(APPEND compressors_kernels kernels/philox.cc kernels/natural_decode.cc
  kernels/natural_encode.cc)
list(APPEND compressors_sources codecs/dense/natural.cc codecs/dense/dither.cc)
list(APPEND compressors_codecs natural dither)
