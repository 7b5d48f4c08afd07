list(APPEND compressors_sources coding/huffman.cc coding/huffman_lengths.cc)
list(APPEND compressors_kernels kernels/lorenzo.cc kernels/huffman.cc)
