list(APPEND compressors_sources selection.cc codecs/sparse/sparse_values.cc codecs/sparse/topk.cc)
list(APPEND compressors_kernels kernels/select.cc)
list(APPEND compressors_codecs topk)
