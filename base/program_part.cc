#include "base/program_part.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <set>

#include "base/child_process.h"
#include "base/error.h"

namespace gradwire {
namespace {

bool exists(const std::string& path) {
  return ::access(path.c_str(), R_OK) == 0;
}

/// Builds `part` once; a build that failed has said why, and is not tried again.
void build(std::string_view part) {
  const char* const script = std::getenv("GRADWIRE_BUILD_PARTS");
  static std::set<std::string, std::less<>> tried;
  if (!script || !*script || !tried.emplace(part).second) return;
  const char* const preset = std::getenv("GRADWIRE_PRESET");
  ChildProcess({script, preset && *preset ? preset : "release", "--part", std::string(part)}, {})
      .wait();
}

}  // namespace

std::string part_path(std::string_view part, std::string_view relative) {
  const std::string path = executable_folder() + "/" + std::string(relative);
  if (!exists(path)) build(part);
  return path;
}

void never_build_parts() {
  ::unsetenv("GRADWIRE_BUILD_PARTS");
}

void* open_part_module(const std::string& path, std::string_view attempted,
                       std::string_view why_missing) {
  if (!exists(path))
    throw Error(ErrorKind::kCapability, attempted, path, why_missing,
                "run ./gradwire build --part all with a network, or see `gradwire doctor`");
  void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!module)
    throw Error(ErrorKind::kCapability, attempted, path, ::dlerror(), "see `gradwire doctor`");
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
