list(APPEND compressors_sources coding/huffman.cc coding/huffman_lengths.cc codecs/dense/powersgd.cc
  codecs/activations/sz.cc codecs/activations/sz_block.cc codecs/activations/sz_decoder.cc
  codecs/activations/sz_encoder.cc codecs/activations/sz_explain.cc codecs/activations/sz_symbols.cc)
list(APPEND compressors_kernels kernels/lorenzo.cc kernels/low_rank.cc kernels/huffman.cc)
list(APPEND compressors_codecs sz powersgd)

# powersgd takes its orthogonalisation from Eigen, which is headers only.
find_path(GRADWIRE_EIGEN_INCLUDE Eigen/Core PATHS ${GRADWIRE_DEPS}/include PATH_SUFFIXES eigen3)
if(NOT GRADWIRE_EIGEN_INCLUDE)
  message(FATAL_ERROR "Eigen was not found (package libeigen3-dev), nor its headers under ${GRADWIRE_DEPS}/include")
endif()
set_source_files_properties(codecs/dense/powersgd.cc PROPERTIES
  COMPILE_OPTIONS "-isystem;${GRADWIRE_EIGEN_INCLUDE}")
