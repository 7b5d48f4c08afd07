# test_compressors_cuda_on_cpu, built on demand: cuda_test.cc over the kernels' sources on the CPU.
# Needs no CUDA at all (cuda_on_cpu/cuda_runtime_api.h says what it can show).
find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_FOUND AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(cuda_sources ${CMAKE_SOURCE_DIR}/compressors/cuda)
  set(on_cpu ${CMAKE_BINARY_DIR}/generated/cuda_on_cpu)
  file(GLOB kernels CONFIGURE_DEPENDS ${cuda_sources}/*.cu)
  file(GLOB kernel_headers CONFIGURE_DEPENDS ${cuda_sources}/*.cuh)
  file(GLOB sources CONFIGURE_DEPENDS ${cuda_sources}/cuda_*.cc)
  foreach(kernel ${kernels} ${kernel_headers})
    get_filename_component(name ${kernel} NAME)
    string(REGEX REPLACE "\\.cu$" ".cc" name ${name})
    set(converted ${on_cpu}/compressors/cuda/${name})
    add_custom_command(OUTPUT ${converted}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${on_cpu}/compressors/cuda
      COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/cuda_on_cpu/convert.py ${kernel} ${converted}
      DEPENDS ${kernel} ${CMAKE_CURRENT_SOURCE_DIR}/cuda_on_cpu/convert.py)
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
