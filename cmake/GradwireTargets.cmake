# One target per folder: gradwire_<folder>, alias gradwire::<folder>.
add_library(gradwire_flags INTERFACE)
# No contraction of multiply and add: the same bytes on every machine and on CUDA.
target_compile_options(gradwire_flags INTERFACE -Wall -Wextra -Wpedantic -ffp-contract=off)
# Left to itself g++ walks through all that it remembers every few hundred megabytes, most of it what the
# precompiled headers hold: a fifth of its time, for 100 MB less.
target_compile_options(gradwire_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=400000>)
if(GRADWIRE_WERROR)
  target_compile_options(gradwire_flags INTERFACE -Werror)
endif()
target_include_directories(gradwire_flags INTERFACE ${CMAKE_SOURCE_DIR})

# gradwire_compile_together(target batch): several sources are one unit for the compiler, so that
# headers and templates are compiled once for all of them: a quarter of the time. In presets for work on
# the code each source stays a unit of its own (GRADWIRE_UNITY=OFF), so that an edit compiles one file.
function(gradwire_compile_together target batch)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${GRADWIRE_UNITY} UNITY_BUILD_BATCH_SIZE ${batch})
endfunction()

# gradwire_compile_quickly(target): for what is never waited for: a quarter less of the compiler's time.
function(gradwire_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# Of the standard library, for precompiled headers.
set(gradwire_standard_headers <algorithm> <array> <cmath> <cstring> <functional> <map> <memory> <numeric>
  <optional> <set> <span> <string> <variant> <vector>)

# gradwire_shared_headers(name FOR function HEADERS header... LIBRARIES library...): precompiled headers
# for all targets with the same options: those of `function`, or the usual ones. The compiler takes no
# others.
function(gradwire_shared_headers name)
  cmake_parse_arguments(PARSE_ARGV 1 shared "" "FOR" "HEADERS;LIBRARIES")
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${name}.cc CONTENT "")
  add_library(gradwire_${name} OBJECT ${CMAKE_BINARY_DIR}/generated/${name}.cc)
  target_link_libraries(gradwire_${name} PRIVATE gradwire_flags ${shared_LIBRARIES})
  if(shared_FOR)
    cmake_language(CALL ${shared_FOR} gradwire_${name})
  endif()
  target_precompile_headers(gradwire_${name} PRIVATE ${shared_HEADERS})
endfunction()

# gradwire_take_headers(target name): those, where this build has them.
function(gradwire_take_headers target name)
  if(TARGET gradwire_${name})
    target_precompile_headers(${target} REUSE_FROM gradwire_${name})
  endif()
endfunction()

function(gradwire_add_folder folder)
  if(GRADWIRE_FOLDERS AND NOT folder IN_LIST GRADWIRE_FOLDERS)
    return()
  endif()
  if(EXISTS ${CMAKE_SOURCE_DIR}/${folder}/CMakeLists.txt)
    add_subdirectory(${CMAKE_SOURCE_DIR}/${folder})
  endif()
endfunction()

# gradwire_library(name source...): a static library for the folder `name`.
function(gradwire_library name)
  add_library(gradwire_${name} STATIC ${ARGN})
  add_library(gradwire::${name} ALIAS gradwire_${name})
  target_link_libraries(gradwire_${name} PUBLIC $<BUILD_INTERFACE:gradwire_flags>)
  set_target_properties(gradwire_${name} PROPERTIES EXPORT_NAME ${name})
  gradwire_compile_together(gradwire_${name} 10)
endfunction()

# gradwire_skipped_test(name reason): stands in CTest's list, as skipped, for a test that this build
# cannot have.
function(gradwire_skipped_test name reason)
  add_test(NAME ${name} COMMAND sh -c "echo 'skipped: ${name}: ${reason}'; exit 77")
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

# gradwire_test(name [OWN_HEADERS] [LABELS label...] [NEEDS need...] SOURCES source... LIBRARIES library...):
# a Catch2 program. Its cases tagged [needs-<need>] are a CTest test of their own, <name>_needs_<need>,
# which is skipped where they cannot run (tests/skip.h). Where a library is missing, all of it is.
function(gradwire_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "OWN_HEADERS" "" "SOURCES;LIBRARIES;LABELS;NEEDS")
  foreach(library ${test_LIBRARIES})
    if(NOT TARGET ${library})
      gradwire_skipped_test(${name} "this build leaves out ${library}")
      return()
    endif()
  endforeach()
  add_executable(test_${name} ${test_SOURCES})
  target_link_libraries(test_${name} PRIVATE gradwire_catch_main ${test_LIBRARIES} gradwire_flags)
  gradwire_compile_quickly(test_${name})
  if(NOT test_OWN_HEADERS) # whose options, or order of headers, are others
    target_precompile_headers(test_${name} REUSE_FROM gradwire_test_headers)
  endif()
  set(tests ${name})
  set(others)
  if(test_NEEDS)
    set(others "~[.]")  # "all but ..." would take hidden cases in
  endif()
  foreach(need ${test_NEEDS})
    string(APPEND others "~[needs-${need}]")
    add_test(NAME ${name}_needs_${need} COMMAND test_${name} "[needs-${need}]")
    list(APPEND tests ${name}_needs_${need})
  endforeach()
  add_test(NAME ${name} COMMAND test_${name} ${others})
  set_tests_properties(${tests} PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77 LABELS "${test_LABELS}"
                       ENVIRONMENT "GRADWIRE_SOURCE_DIR=${CMAKE_SOURCE_DIR};GRADWIRE_BINARY_DIR=${CMAKE_BINARY_DIR}")
endfunction()

# gradwire_header_package(package version target header): the installed package, or, where there is
# none, its headers under GRADWIRE_DEPS/include (scripts/gpu-check --pack puts them there).
function(gradwire_header_package package version target header)
  find_package(${package} ${version} QUIET)
  if(TARGET ${target})
    return()
  endif()
  find_path(GRADWIRE_${package}_INCLUDE ${header} PATHS ${GRADWIRE_DEPS}/include NO_DEFAULT_PATH)
  if(NOT GRADWIRE_${package}_INCLUDE)
    message(FATAL_ERROR "${package} ${version} was not found, nor ${header} under ${GRADWIRE_DEPS}/include")
  endif()
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} INTERFACE ${GRADWIRE_${package}_INCLUDE})
endfunction()

# gradwire_other_instruction_sets(result): those of x86-64 that a build for this machine alone leaves
# out, as Highway names them: all but the best that it has and the baseline.
function(gradwire_other_instruction_sets result)
  set(${result} "" PARENT_SCOPE)
  if(GRADWIRE_INSTRUCTION_SETS STREQUAL all OR CMAKE_CROSSCOMPILING OR
     NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    return()
  endif()
  set(sets HWY_AVX3_DL HWY_AVX3 HWY_AVX2)  # the best first
  try_run(GRADWIRE_BEST_SET GRADWIRE_BEST_SET_COMPILED
          SOURCE_FROM_CONTENT best.cc "
#define HWY_WANT_AVX3_DL
#include <hwy/targets.h>
int main() {
  const auto here = hwy::SupportedTargets();
  return here & HWY_AVX3_DL ? 0 : here & HWY_AVX3 ? 1 : here & HWY_AVX2 ? 2 : 3;
}"
          LINK_LIBRARIES hwy::hwy)
  if(GRADWIRE_BEST_SET MATCHES "^[0-2]$")
    list(REMOVE_AT sets ${GRADWIRE_BEST_SET})
    list(JOIN sets "|" sets)
    set(${result} "|${sets}" PARENT_SCOPE)
  endif()
endfunction()

# gradwire_kernel_batches(result target batches source...): units of `target` that hold several kernels each. Whoever includes
# Highway reads its headers once for each instruction set, which is half of a kernel's time.
function(gradwire_kernel_batches result target batches)
  set(units)
  math(EXPR last "${batches} - 1")
  foreach(batch RANGE ${last})
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/${target}_kernels_${batch}.cc)
    set(here "#undef HWY_TARGET_INCLUDE\n#define HWY_TARGET_INCLUDE \"${unit}\"\n")
    set(text "${here}#include <hwy/foreach_target.h>\n")
    list(LENGTH ARGN length)
    math(EXPR end "${length} - 1")
    foreach(i RANGE ${batch} ${end} ${batches})
      list(GET ARGN ${i} source)
      string(APPEND text "#include \"${CMAKE_CURRENT_SOURCE_DIR}/${source}\"\n")
    endforeach()
    file(CONFIGURE OUTPUT ${unit} CONTENT "${text}${here}")  # each of them has named itself
    list(APPEND units ${unit})
  endforeach()
  set(${result} ${units} PARENT_SCOPE)
endfunction()

# gradwire_kernels(target batches source...): sources of `target` that Highway compiles once for each
# instruction set, in so many units (0: each is one). Without its library, its headers do under
# GRADWIRE_DEPS/include, for this machine's processor alone: choosing an instruction set at run time is
# what needs the library.
function(gradwire_kernels target batches)
  set(units ${ARGN})
  if(batches GREATER 0 AND GRADWIRE_UNITY)
    gradwire_kernel_batches(units ${target} ${batches} ${ARGN})
  endif()
  target_sources(${target} PRIVATE ${units})
  find_package(hwy 1.0 QUIET)
  set(others)
  if(hwy_FOUND)
    gradwire_other_instruction_sets(others)
  endif()
  # One baseline and the instruction sets that most machines have: each one more costs build time.
  # Highway leaves out AVX-512 with VBMI unless it is asked for.
  set_source_files_properties(${units} PROPERTIES COMPILE_DEFINITIONS
    "HWY_WANT_AVX3_DL;HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4|HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128|HWY_RVV${others})"
    SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
  if(hwy_FOUND)
    target_link_libraries(${target} PRIVATE hwy::hwy)
    return()
  endif()
  find_path(GRADWIRE_HWY_INCLUDE hwy/highway.h PATHS ${GRADWIRE_DEPS}/include NO_DEFAULT_PATH)
  if(NOT GRADWIRE_HWY_INCLUDE)
    message(FATAL_ERROR "Highway was not found (package libhwy-dev), nor its headers under ${GRADWIRE_DEPS}/include")
  endif()
  message(STATUS "Highway: headers only, kernels are compiled for this machine's processor alone")
  target_include_directories(${target} SYSTEM PRIVATE ${GRADWIRE_HWY_INCLUDE})
  set_source_files_properties(${units} PROPERTIES
    COMPILE_OPTIONS "-march=native;-DHWY_COMPILE_ONLY_STATIC")
endfunction()
