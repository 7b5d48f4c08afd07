#pragma once
#include "scenarios/networks/links.h"
#include "scenarios/scenario.h"

/// Parts of a scenario from their canonical JSON; for build.cc and the files of its parts.
namespace gradwire::scenarios {

void fill_workload(const nlohmann::ordered_json& json, Workload& workload);
void fill_method(const nlohmann::ordered_json& json, Method& method);
/// `file`: the scenario's, which paths are seen from.
void fill_network(const nlohmann::ordered_json& json, const std::string& file, ScheduleFiles& files,
                  NetworkPlan& network);

/// A member that is an object or a list; an empty object where it is absent.
inline const nlohmann::ordered_json& member(const nlohmann::ordered_json& object, const char* key) {
  static const nlohmann::ordered_json nothing = nlohmann::ordered_json::object();
  const auto found = object.find(key);
  return found == object.end() ? nothing : *found;
}

/// An option's value as a user would write it ("0", not "0.0").
std::string option_text(const nlohmann::ordered_json& value);

/// Absent members leave `target` as it is.
template <class T>
void take(const nlohmann::ordered_json& object, const char* key, T& target) {
  const auto found = object.find(key);
  if (found != object.end() && !found->is_null()) target = found->get<T>();
}
template <class T>
void take(const nlohmann::ordered_json& object, const char* key, std::optional<T>& target) {
  const auto found = object.find(key);
  if (found != object.end() && !found->is_null()) target = found->get<T>();
}
inline void take(const nlohmann::ordered_json& object, const char* key, Bytes& target) {
  if (object.contains(key)) target = parse_bytes(object[key].get<std::string>());
}
inline void take(const nlohmann::ordered_json& object, const char* key, Seconds& target) {
  if (object.contains(key)) target = parse_duration(object[key].get<std::string>());
}
inline void take(const nlohmann::ordered_json& object, const char* key,
                 std::optional<Seconds>& target) {
  if (object.contains(key)) target = parse_duration(object[key].get<std::string>());
}

}  // namespace gradwire::scenarios
