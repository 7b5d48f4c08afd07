# test_compressors_cuda_on_cpu, built on demand: cuda_test.cc over the kernels' sources on the CPU.
# Needs no CUDA at all (cuda_on_cpu/cuda_runtime_api.h says what it can show).
find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_FOUND AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(on_cpu ${CMAKE_BINARY_DIR}/generated/cuda_on_cpu)
  set(compressors ${CMAKE_SOURCE_DIR}/compressors)
  file(GLOB kernels RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS
       ${compressors}/cuda/*.cu ${compressors}/cuda/*.cuh ${compressors}/codecs/*/*.cu)
  file(GLOB sources CONFIGURE_DEPENDS ${compressors}/cuda/cuda_*.cc ${compressors}/codecs/*/cuda_codec.cc)
  foreach(kernel ${kernels})
    string(REGEX REPLACE "\\.cu$" ".cc" name ${kernel})
    set(converted ${on_cpu}/${name})
    get_filename_component(folder ${converted} DIRECTORY)
    add_custom_command(OUTPUT ${converted}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
      COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/cuda_on_cpu/convert.py
              ${CMAKE_SOURCE_DIR}/${kernel} ${converted}
      DEPENDS ${CMAKE_SOURCE_DIR}/${kernel} ${CMAKE_CURRENT_SOURCE_DIR}/cuda_on_cpu/convert.py)
    list(APPEND sources ${converted})
  endforeach()
  add_executable(test_compressors_cuda_on_cpu EXCLUDE_FROM_ALL
    cuda_test.cc cuda_batch_test.cc cuda_on_cpu/launches_test.cc cuda_on_cpu/coroutines.cc
    ${sources})
  target_include_directories(test_compressors_cuda_on_cpu BEFORE PRIVATE
    ${on_cpu} ${CMAKE_CURRENT_SOURCE_DIR}/cuda_on_cpu)
  # Device code meets the host compiler here, whose warnings are not for it.
  target_compile_options(test_compressors_cuda_on_cpu PRIVATE -w -O2 -ffp-contract=off)
  target_link_libraries(test_compressors_cuda_on_cpu PRIVATE gradwire_catch_main gradwire::compressors)
endif()
