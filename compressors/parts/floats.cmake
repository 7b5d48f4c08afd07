list(APPEND compressors_kernels kernels/philox.cc)
