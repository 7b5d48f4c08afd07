list(APPEND compressors_sources codecs/dense/sign.cc)
list(APPEND compressors_kernels kernels/sign.cc)
list(APPEND compressors_codecs sign)
