list(APPEND compressors_sources selection.cc selection_candidates.cc selection_rank.cc decorators/momentum_correction.cc
  codecs/sparse/dgc.cc codecs/sparse/randomk.cc codecs/sparse/sparse_values.cc codecs/sparse/topk.cc)
list(APPEND compressors_kernels kernels/select.cc)
list(APPEND compressors_codecs topk randomk dgc)
