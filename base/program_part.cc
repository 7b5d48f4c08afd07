#include "base/program_part.h"

#include <dlfcn.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "base/child_process.h"
#include "base/environment.h"
#include "base/error.h"

namespace gradwire {
namespace {

bool may_build = true;

bool exists(const std::string& path) {
  return ::access(path.c_str(), R_OK) == 0;
}

/// Builds `part` once; a build that failed has said why, and is not tried again.
void build(std::string_view part) {
  const std::string script = environment_variable("GRADWIRE_BUILD_PARTS");
  static std::set<std::string, std::less<>> tried;
  if (script.empty() || !may_build || !tried.emplace(part).second) return;
  const std::string preset = environment_variable("GRADWIRE_PRESET");
  ChildProcess({script, preset.empty() ? "release" : preset, "--part", std::string(part)}, {})
      .wait();
}

std::string wheels_script() {
  return executable_folder() + "/../share/gradwire/scripts/install-wheels";
}

std::string users_wheels() {
  if (std::string given = environment_variable("GRADWIRE_DEPS"); !given.empty()) return given;
  const std::string data = environment_variable("XDG_DATA_HOME");
  return (data.empty() ? environment_variable("HOME") + "/.local/share" : data) +
         "/gradwire/wheels";
}

/// Folder of libraries below a folder of unpacked wheels.
std::string libraries(std::string_view name) {
  return name == "training" ? "/torch/torch/lib" : "/ns3/ns3/lib64";
}

/// dlopen, with LibTorch from the wheels where an installed module finds none by itself: a library
/// that is already loaded under its name is taken.
void* open_library(const std::string& path) {
  void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module || !is_installed()) return module;
  const std::string why = ::dlerror();
  if (why.find("libtorch") != std::string::npos || why.find("libc10") != std::string::npos) {
    const std::string folder = fetched_wheels("training");
    if (folder.empty()) return nullptr;
    ::dlopen((folder + "/libtorch_cpu.so").c_str(), RTLD_NOW | RTLD_GLOBAL);
  }
  return ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
}

}  // namespace

std::string part_path(std::string_view part, std::string_view relative) {
  const std::string path = executable_folder() + "/" + std::string(relative);
  constexpr std::string_view kModules = "../lib/";
  if (is_installed() && relative.starts_with(kModules))
    return executable_folder() + "/../lib/gradwire/" +
           std::string(relative.substr(kModules.size()));
  if (!exists(path)) build(part);
  return path;
}

std::string part_path_or(const char* variable, std::string_view part, std::string_view relative) {
  const std::string given = environment_variable(variable);
  return given.empty() ? part_path(part, relative) : given;
}

bool is_installed() {
  static const bool installed = exists(wheels_script());
  return installed;
}

std::string part_advice(std::string_view part) {
  if (!is_installed()) return "run ./gradwire build --part " + std::string(part);
  const bool apart = part == "gui" || part == "packet" || part == "mpi" || part == "bench";
  return "install the package gradwire" + (apart ? "-" + std::string(part) : "");
}

std::string wheels_folder(std::string_view name) {
  const std::string file = name == "training" ? "/libtorch_cpu.so" : "/libns3.44-core.so";
  for (const std::string& folder :
       {users_wheels(), executable_folder() + "/../lib/gradwire/wheels"})
    if (exists(folder + libraries(name) + file)) return folder + libraries(name);
  return {};
}

std::string fetched_wheels(std::string_view name) {
  const std::string found = wheels_folder(name);
  static std::set<std::string, std::less<>> tried;
  if (!found.empty() || !may_build || !tried.emplace(name).second) return found;
  std::error_code ignored;  // the script says what it cannot write
  std::filesystem::create_directories(users_wheels(), ignored);
  ChildProcess({wheels_script(), users_wheels(), std::string(name)}, {}).wait();
  return wheels_folder(name);
}

void never_build_parts() {
  may_build = false;
}

void* open_part_module(const std::string& path, std::string_view attempted,
                       std::string_view why_missing) {
  if (!exists(path)) {
    const bool bench = path.find("libgradwire_bench") != std::string::npos;
    throw Error(ErrorKind::kCapability, attempted, path, why_missing,
                is_installed()
                    ? part_advice(bench ? "bench" : "training")
                    : "run ./gradwire build --part all with a network, or see `gradwire doctor`");
  }
  void* const module = open_library(path);
  if (!module) {
    const char* const why = ::dlerror();
    throw Error(ErrorKind::kCapability, attempted, path,
                why ? why : "LibTorch is not installed: its wheels are fetched at the first use",
                is_installed() ? "see `gradwire doctor`; docs/install.md names the folders"
                               : "see `gradwire doctor`");
  }
  return module;
}

void* module_symbol(void* module, const char* symbol) {
  void* const address = ::dlsym(module, symbol);
  if (!address)
    throw Error(ErrorKind::kCapability, "find in a module", symbol, ::dlerror(),
                "the module belongs to another version; rebuild with ./gradwire build");
  return address;
}

}  // namespace gradwire
