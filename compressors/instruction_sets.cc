#include "compressors/instruction_sets.h"

#include <hwy/targets.h>

#include <algorithm>
#include <cctype>

#include "base/error.h"

namespace gradwire::compressors {
namespace {

std::string name_of_target(std::int64_t target) {
#if HWY_ARCH_X86
  if (target == HWY_STATIC_TARGET && target > HWY_SSSE3) return "sse2";  // x86-64's baseline
#endif
  std::string name = hwy::TargetName(target);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

#ifdef HWY_COMPILE_ONLY_STATIC
std::vector<std::int64_t> targets_here() {
  return {HWY_STATIC_TARGET};
}
void allow_all_but(std::int64_t) {}
#else
// A lower bit is a better target. The baseline is always there.
std::vector<std::int64_t> targets_here() {
  std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  if (std::find(targets.begin(), targets.end(), std::int64_t{HWY_STATIC_TARGET}) == targets.end())
    targets.push_back(HWY_STATIC_TARGET);
  return targets;
}
void allow_all_but(std::int64_t disabled) {
  hwy::DisableTargets(disabled);
}
#endif

/// What there would be without a limit; the limit is set again.
std::vector<std::int64_t> all_targets() {
  static const std::vector<std::int64_t> all = targets_here();
  return all;
}

std::int64_t& disabled_targets() {
  static std::int64_t disabled = 0;
  return disabled;
}

}  // namespace

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const std::int64_t target : all_targets()) names.push_back(name_of_target(target));
  return names;
}

std::string instruction_set() {
  for (const std::int64_t target : all_targets())
    if ((target & disabled_targets()) == 0) return name_of_target(target);
  return name_of_target(all_targets().back());
}

void limit_instruction_sets(std::string_view best) {
  const std::vector<std::int64_t> targets = all_targets();
  std::int64_t disabled = 0;
  bool found = best == "best";
  for (const std::int64_t target : targets) {
    found = found || name_of_target(target) == best;
    if (!found) disabled |= target;
  }
  if (!found) {
    std::string names = "best";
    for (const std::string& name : instruction_sets()) names += ", " + name;
    throw Error(ErrorKind::kUsage, "use the instruction set", best,
                "this machine and build have: " + names);
  }
  disabled_targets() = disabled;
  allow_all_but(disabled);
}

}  // namespace gradwire::compressors
