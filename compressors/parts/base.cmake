list(APPEND compressors_sources codecs/dense/none.cc codecs/dense/fp16.cc codecs/dense/terngrad.cc)
list(APPEND compressors_kernels kernels/simd.cc)
list(APPEND compressors_codecs none fp16 terngrad)
