#include "scenarios/networks/calibrations.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/hash.h"
#include "base/joined_texts.h"
#include "base/options.h"
#include "scenarios/share.h"
#include "sim/transport/calibration.h"

namespace gradwire::scenarios {
namespace {

using nlohmann::ordered_json;

constexpr const char* kPointer = "/network/transport/calibration";
constexpr const char* kHashPointer = "/network/transport/calibration_hash";

bool is_file(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(".json");
}

std::string unknown(const std::string& name) {
  std::vector<std::string> shipped;
  for (const std::string_view each : sim::shipped_calibrations()) shipped.emplace_back(each);
  const std::string near = nearest_name(name, shipped);
  return "there is no calibration \"" + name + "\"" +
         (near.empty() ? "" : "; did you mean \"" + near + "\"?") +
         " (shipped: " + joined_texts(shipped, ", ") +
         "; a file's path has a \"/\" or ends in .json)";
}

std::string text_at(const ordered_json& network, const char* key) {
  const auto transport = network.find("transport");
  if (transport == network.end() || !transport->is_object()) return {};
  const auto found = transport->find(key);
  return found != transport->end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

LoadedCalibration load_calibration(const std::string& name, const std::string& file) {
  LoadedCalibration loaded;
  try {
    const auto shipped = sim::shipped_calibrations();
    if (std::find(shipped.begin(), shipped.end(), name) != shipped.end()) {
      loaded.constants = sim::shipped_calibration(name).constants;
    } else if (!is_file(name)) {
      loaded.problem = unknown(name);
    } else {
      const std::string path = relative_to_file(name, file);
      const std::string text = read_file(path);
      Hasher hasher;
      hasher.add_text(text);
      loaded.hash = hasher.hex();
      loaded.constants = sim::parse_calibration(text, path).constants;
    }
  } catch (const Error& error) {
    loaded.problem = error.what();
  }
  return loaded;
}

void add_calibration_hash(ordered_json& network, const std::string& file) {
  const std::string name = text_at(network, "calibration");
  if (!is_file(name) || network["transport"].contains("calibration_hash")) return;
  const std::string hash = load_calibration(name, file).hash;
  if (!hash.empty()) network["transport"]["calibration_hash"] = hash;
}

void check_calibration(const ordered_json& network, const std::string& file,
                       const std::function<void(const std::string&, const std::string&)>& refuse) {
  const std::string name = text_at(network, "calibration");
  const std::string noted = text_at(network, "calibration_hash");
  if (name.empty() && noted.empty()) return;
  if (!is_file(name) && !noted.empty())
    refuse(kHashPointer, "/network/transport/calibration names no file");
  if (name.empty()) return;
  const LoadedCalibration loaded = load_calibration(name, file);
  if (!loaded.problem.empty()) {
    refuse(kPointer, loaded.problem);
  } else if (is_file(name) && !noted.empty() && noted != loaded.hash) {
    refuse(kPointer, "the file is another than the one whose hash was noted (" + noted + ", now " +
                         loaded.hash + ")");
  }
}

}  // namespace gradwire::scenarios
