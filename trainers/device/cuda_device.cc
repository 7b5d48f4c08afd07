#include "trainers/device/cuda_device.h"

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>

#include "base/program_part.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

[[noreturn]] void missing(const std::string& reason, const char* remedy) {
  throw TrainerError("train on", "device cuda", reason, remedy, ErrorKind::kCapability);
}

/// The driver and LibTorch's CUDA part stay loaded until the program ends: unloading either while
/// streams exist is not supported.
void* load(const char* library, const char* what) {
  const std::string wheels = is_installed() ? wheels_folder("training") + "/" : "";
  const bool in_wheels = is_installed() && ::access((wheels + library).c_str(), R_OK) == 0;
  void* handle = dlopen(((in_wheels ? wheels : "") + library).c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!handle) {
    const char* detail = dlerror();
    missing(std::string(what) + " (" + (detail ? detail : library) + ")",
            "use device cpu or a device profile");
  }
  return handle;
}

/// A function of the CUDA driver (https://docs.nvidia.com/cuda/cuda-driver-api); 0 means success.
template <typename Function>
Function driver_function(void* driver, const char* name) {
  auto* function = reinterpret_cast<Function>(dlsym(driver, name));
  if (!function) missing(std::string("the CUDA driver lacks ") + name, "update the driver");
  return function;
}

std::string first_device_name(void* driver) {
  const int status = driver_function<int (*)(unsigned)>(driver, "cuInit")(0);
  if (status != 0) {
    missing("cuInit failed with CUDA error " + std::to_string(status),
            "check the driver with nvidia-smi");
  }
  int count = 0;
  if (driver_function<int (*)(int*)>(driver, "cuDeviceGetCount")(&count) != 0 || count == 0) {
    missing("the driver shows no GPU", "check CUDA_VISIBLE_DEVICES");
  }
  char name[128] = {};
  driver_function<int (*)(char*, int, int)>(driver, "cuDeviceGetName")(name, sizeof name - 1, 0);
  return name;
}

/// The same run gives the same weights. Without it cuDNN adds a convolution's gradients by atomics,
/// and a run that is resumed ends elsewhere. Where an operation has no such version LibTorch warns.
void compute_alike() {
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);  // what cuBLAS needs for it
  at::globalContext().setBenchmarkCuDNN(false);
  at::globalContext().setDeterministicCuDNN(true);
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
}

}  // namespace

std::string load_cuda() {
  static std::mutex mutex;
  static std::string name;
  const std::lock_guard<std::mutex> lock(mutex);
  if (name.empty()) {
    void* driver = load("libcuda.so.1", "there is no CUDA driver");
    const std::string found = first_device_name(driver);
    load("libtorch_cuda.so", "LibTorch's CUDA library does not load");
    if (!at::detail::getCUDAHooks().hasCUDA()) {
      missing(
          "LibTorch sees no usable GPU, or had begun on the CPU before its CUDA part was loaded",
          "run training on cuda in a process of its own");
    }
    compute_alike();
    name = found;
  }
  return name;
}

}  // namespace gradwire::trainers
