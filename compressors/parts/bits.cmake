list(APPEND compressors_sources codecs/packed_table.cc codecs/dense/sign.cc codecs/dense/ternary.cc codecs/dense/log.cc
  codecs/weights/binary.cc codecs/weights/kbit.cc codecs/weights/lowbit.cc codecs/weights/lowbit_record.cc lowbit.cc threshold_search.cc xnor_gemm.cc)
list(APPEND compressors_kernels kernels/binary.cc kernels/lowbit.cc kernels/planes.cc kernels/sign.cc kernels/small_codes.cc
  kernels/table_values.cc kernels/ternary_threshold.cc kernels/xnor.cc)
list(APPEND compressors_codecs sign ternary log lowbit binary kbit)
