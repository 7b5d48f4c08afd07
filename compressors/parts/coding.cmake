list(APPEND compressors_sources coding/golomb_rice.cc coding/index_coder.cc coding/index_walk.cc)
