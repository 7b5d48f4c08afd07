#include "bench/measured/profiles.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

namespace gradwire::bench {
namespace {

template <class Profile, class Load>
const Profile* kept(const std::string& name, const char* kind, Load&& load) {
  static std::map<std::string, std::unique_ptr<const Profile>> known;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const auto found = known.find(name);
  if (found != known.end()) return found->second.get();
  std::unique_ptr<const Profile> profile;
  if (const auto names = scenarios::shipped_profiles(kind); std::ranges::count(names, name))
    profile = std::make_unique<const Profile>(load(name, ""));
  return (known[name] = std::move(profile)).get();
}

}  // namespace

const scenarios::DeviceProfile* shipped_device(const std::string& name) {
  return kept<scenarios::DeviceProfile>(name, "device", scenarios::load_device_profile);
}

const scenarios::WorkloadProfile* shipped_layer_table(const std::string& name) {
  return kept<scenarios::WorkloadProfile>(name, "workload", scenarios::load_workload_profile);
}

}  // namespace gradwire::bench
