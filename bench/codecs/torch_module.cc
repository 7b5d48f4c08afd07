#include "bench/codecs/torch_module.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

#include "base/program_part.h"

namespace gradwire::bench {
namespace {

struct Module {
  TorchTwinFactory make = nullptr;
  std::string why_not;
};

std::string module_path() {
  if (const char* path = std::getenv("GRADWIRE_BENCH_TORCH_MODULE")) return path;
  return part_path("bench", "../lib/libgradwire_bench_torch.so");
}

Module load_module() {
  const std::string path = module_path();
  if (::access(path.c_str(), R_OK) != 0) return {nullptr, path + " was not built"};
  // OpenMP's threads would go on spinning beside what is measured next.
  ::setenv("OMP_WAIT_POLICY", "PASSIVE", 0);
  void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed, see LibTorch
  void* const make = module ? ::dlsym(module, kTorchTwinSymbol) : nullptr;
  if (!make) return {nullptr, ::dlerror()};
  return {reinterpret_cast<TorchTwinFactory>(make), ""};
}

const Module& module() {
  static const Module loaded = load_module();
  return loaded;
}

}  // namespace

std::unique_ptr<TorchTwin> make_torch_twin(const TorchTwinSpec& spec) {
  return std::unique_ptr<TorchTwin>(module().make ? module().make(spec) : nullptr);
}

const std::string& why_no_torch_twins() {
  return module().why_not;
}

}  // namespace gradwire::bench
