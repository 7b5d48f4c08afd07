list(APPEND compressors_sources trits.cc codecs/dense/none.cc codecs/dense/half_codec.cc
  codecs/dense/fp16.cc codecs/dense/bf16.cc codecs/dense/terngrad.cc codecs/dense/ternary_terms.cc)
list(APPEND compressors_kernels kernels/half.cc kernels/integers.cc kernels/magnitude.cc
  kernels/moments.cc kernels/ternary.cc)
list(APPEND compressors_codecs none fp16 bf16 terngrad)
