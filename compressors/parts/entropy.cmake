list(APPEND compressors_sources coding/huffman.cc coding/huffman_lengths.cc
  codecs/activations/sz.cc codecs/activations/sz_block.cc codecs/activations/sz_decoder.cc
  codecs/activations/sz_encoder.cc codecs/activations/sz_explain.cc codecs/activations/sz_symbols.cc)
list(APPEND compressors_kernels kernels/lorenzo.cc kernels/huffman.cc)
list(APPEND compressors_codecs sz)
