#include "sim/transport/calibration.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "sim/transport/shipped_calibrations.h"

namespace gradwire::sim {
namespace {

using nlohmann::ordered_json;
using C = TcpConstants;

constexpr int kSchema = 1;

ConstantField flag(std::string_view name, bool C::*member) {
  return {name, nullptr, member, 0, 1};
}
ConstantField number(std::string_view name, double C::*member, double least, double most) {
  return {name, member, nullptr, least, most};
}

const std::vector<ConstantField>& fields() {
  static const std::vector<ConstantField> list = {
      flag("kernel_recovery", &C::kernel_recovery),
      flag("idle_restart", &C::idle_restart),
      flag("acknowledge_messages", &C::acknowledge_messages),
      flag("bundles", &C::bundles),
      number("first_offer_bytes", &C::first_offer, 1, 1e15),
      number("quick_acks", &C::quick_acks, 1, 1000),
      number("quick_share", &C::quick_share, 0, 1),
      number("tick_s", &C::tick, 1e-6, 1),
      number("largest_rto_s", &C::largest_rto, 1, 3600),
      number("train_gap_s", &C::train_gap, 0, 1),
      number("train_share", &C::train_share, 0, 10),
      number("train_slack_s", &C::train_slack, 0, 1),
      number("rise_share", &C::rise_share, 0, 10),
      number("least_rise_s", &C::least_rise, 0, 10),
      number("largest_rise_s", &C::largest_rise, 0, 10),
      number("settle_time_s", &C::settle_time, 0, 60),
      number("reorder_share", &C::reorder_share, 0, 1),
      number("probe_round_trips", &C::probe_round_trips, 1, 10),
      number("probe_slack_s", &C::probe_slack, 0, 1),
      number("codel_target_s", &C::codel_target, 1e-6, 10),
      number("codel_interval_s", &C::codel_interval, 1e-6, 100),
      number("codel_segments", &C::codel_segments, 0, 1e6)};
  return list;
}

[[noreturn]] void refuse(std::string_view source, const std::string& reason) {
  throw Error(ErrorKind::kScenario, "read", "the calibration " + std::string(source), reason,
              "`gradwire calibrate` writes such files");
}

void read_constant(const std::string& key, const ordered_json& value, std::string_view source,
                   C& constants) {
  const auto& list = fields();
  const auto field =
      std::find_if(list.begin(), list.end(), [&](const ConstantField& f) { return f.name == key; });
  if (field == list.end()) refuse(source, "there is no constant /constants/" + key);
  if (field->flag != nullptr) {
    if (!value.is_boolean()) refuse(source, "/constants/" + key + " is not true or false");
    constants.*field->flag = value.get<bool>();
    return;
  }
  if (!value.is_number()) refuse(source, "/constants/" + key + " is not a number");
  const double given = value.get<double>();
  if (!(given >= field->least && given <= field->most))
    refuse(source, "/constants/" + key + " is not within " + ordered_json(field->least).dump() +
                       " and " + ordered_json(field->most).dump());
  constants.*field->number = given;
}

std::string text_of(const ordered_json& json, const char* key, std::string_view source) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string())
    refuse(source, std::string("/") + key + " is missing, or is no text");
  return found->get<std::string>();
}

std::map<std::string, double> numbers_of(const ordered_json& json, const char* key,
                                         std::string_view source) {
  std::map<std::string, double> numbers;
  const ordered_json object = json.value(key, ordered_json::object());
  for (const auto& item : object.items()) {
    if (!item.value().is_number())
      refuse(source, std::string("/") + key + "/" + item.key() + " is not a number");
    numbers[item.key()] = item.value().get<double>();
  }
  return numbers;
}

void check_keys(const ordered_json& json, std::string_view source) {
  constexpr std::array kKnown = {"schema_version", "name",     "reference", "date",
                                 "versions",       "how",      "fitted",    "grid",
                                 "error",          "constants"};
  for (const auto& item : json.items())
    if (std::find(kKnown.begin(), kKnown.end(), item.key()) == kKnown.end())
      refuse(source, "there is no key /" + item.key());
  if (!json.contains("schema_version") || json["schema_version"] != kSchema)
    refuse(source, "/schema_version is not 1");
  if (!json.contains("constants") || !json["constants"].is_object())
    refuse(source, "/constants is missing, or is no object");
}

}  // namespace

std::span<const ConstantField> constant_fields() {
  return fields();
}

Calibration parse_calibration(std::string_view text, std::string_view source) {
  const ordered_json json = ordered_json::parse(text, nullptr, false);
  if (!json.is_object()) refuse(source, "it is no JSON object");
  check_keys(json, source);
  Calibration result;
  result.name = text_of(json, "name", source);
  result.reference = text_of(json, "reference", source);
  result.date = text_of(json, "date", source);
  result.how = text_of(json, "how", source);
  const ordered_json versions = json.value("versions", ordered_json::object());
  for (const auto& item : versions.items())
    if (item.value().is_string()) result.versions[item.key()] = item.value().get<std::string>();
  const ordered_json fitted = json.value("fitted", ordered_json::array());
  for (const ordered_json& name : fitted)
    if (name.is_string()) result.fitted.push_back(name.get<std::string>());
  result.grid = numbers_of(json, "grid", source);
  result.error = numbers_of(json, "error", source);
  for (const auto& item : json["constants"].items())
    read_constant(item.key(), item.value(), source, result.constants);
  return result;
}

std::string calibration_json(const Calibration& calibration) {
  ordered_json constants = ordered_json::object();
  for (const ConstantField& field : fields()) {
    const std::string name(field.name);
    if (field.flag != nullptr)
      constants[name] = calibration.constants.*field.flag;
    else
      constants[name] = calibration.constants.*field.number;
  }
  const ordered_json json = {{"schema_version", kSchema},          {"name", calibration.name},
                             {"reference", calibration.reference}, {"date", calibration.date},
                             {"versions", calibration.versions},   {"how", calibration.how},
                             {"fitted", calibration.fitted},       {"grid", calibration.grid},
                             {"error", calibration.error},         {"constants", constants}};
  return json.dump(2) + "\n";
}

std::span<const std::string_view> shipped_calibrations() {
  static constexpr std::array<std::string_view, 2> kNames = {"packet", "linux"};
  return kNames;
}

Calibration shipped_calibration(std::string_view name) {
  if (name == "packet") return parse_calibration(kPacketCalibration, name);
  if (name == "linux") return parse_calibration(kLinuxCalibration, name);
  throw Error(ErrorKind::kUsage, "find", "the calibration " + std::string(name),
              "packet and linux ship with the program");
}

Calibration find_calibration(const std::string& name_or_path) {
  const auto names = shipped_calibrations();
  if (std::find(names.begin(), names.end(), name_or_path) != names.end() ||
      !std::filesystem::exists(name_or_path))
    return shipped_calibration(name_or_path);
  return parse_calibration(read_file(name_or_path), name_or_path);
}

}  // namespace gradwire::sim
