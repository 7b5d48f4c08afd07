# LibTorch from the PyPI wheel, unpacked under GRADWIRE_DEPS, or the user's own: Torch_ROOT names a
# folder with include/ and lib/. Targets: gradwire::torch (CPU libraries; the CUDA ones are loaded at
# run time where a driver is found).
set(Torch_ROOT "${GRADWIRE_DEPS}/torch/torch" CACHE PATH "LibTorch: folder with include/ and lib/")
find_library(Torch211_CPU_LIBRARY torch_cpu PATHS ${Torch_ROOT}/lib NO_DEFAULT_PATH)
find_library(Torch211_C10_LIBRARY c10 PATHS ${Torch_ROOT}/lib NO_DEFAULT_PATH)
find_path(Torch211_INCLUDE torch/torch.h PATHS ${Torch_ROOT}/include/torch/csrc/api/include NO_DEFAULT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Torch211 REQUIRED_VARS Torch211_CPU_LIBRARY Torch211_C10_LIBRARY Torch211_INCLUDE)
if(Torch211_FOUND AND NOT TARGET gradwire::torch)
  add_library(gradwire_torch INTERFACE)
  add_library(gradwire::torch ALIAS gradwire_torch)
  target_include_directories(gradwire_torch SYSTEM INTERFACE ${Torch_ROOT}/include ${Torch211_INCLUDE})
  target_link_libraries(gradwire_torch INTERFACE ${Torch211_CPU_LIBRARY} ${Torch211_C10_LIBRARY})
  # torch_cpu's own needs (CUDA runtime and CUPTI) lie beside it.
  file(GLOB gradwire_nvidia_folders ${GRADWIRE_DEPS}/torch/nvidia/cu13/lib ${GRADWIRE_DEPS}/torch/nvidia/*/lib)
  list(JOIN gradwire_nvidia_folders ":" gradwire_nvidia_path)
  target_link_options(gradwire_torch INTERFACE "LINKER:-rpath,${Torch_ROOT}/lib:${gradwire_nvidia_path}"
                      "LINKER:-rpath-link,${gradwire_nvidia_path}" "LINKER:--disable-new-dtags")
endif()
