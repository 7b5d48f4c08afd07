# Compiled with the kernels' definitions, so that it names the instruction sets that they have.
list(APPEND compressors_kernels instruction_sets.cc)
