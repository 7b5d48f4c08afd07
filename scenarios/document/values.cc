#include "scenarios/document/values.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <span>
#include <string_view>

#include "base/units.h"

namespace gradwire::scenarios {
namespace {

using nlohmann::ordered_json;

struct Unit {
  std::string_view name;
  double factor;
};
// Only for writing; base/units.cc reads. Largest first.
constexpr std::array<Unit, 9> kSizes{{{"TiB", 1099511627776.0},
                                      {"TB", 1e12},
                                      {"GiB", 1073741824.0},
                                      {"GB", 1e9},
                                      {"MiB", 1048576.0},
                                      {"MB", 1e6},
                                      {"KiB", 1024.0},
                                      {"kB", 1e3},
                                      {"B", 1}}};
constexpr std::array<Unit, 5> kRates{
    {{"Tbps", 1e12}, {"Gbps", 1e9}, {"Mbps", 1e6}, {"kbps", 1e3}, {"bps", 1}}};
constexpr std::array<Unit, 4> kTimes{{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};

/// In the largest unit that the value reaches, to 12 significant digits.
std::string in_fitting_unit(double value, std::span<const Unit> units) {
  const Unit* unit = value == 0 ? &units.front() : &units.back();
  for (std::size_t i = units.size(); value != 0 && i-- > 0;)
    if (value >= units[i].factor * (1 - 1e-12)) unit = &units[i];
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.12g", value / unit->factor);
  return text.data() + std::string(unit->name);
}

bool is_unit_string(OptionType type) {
  return type == OptionType::kBytes || type == OptionType::kRate || type == OptionType::kDuration;
}

double base_of_text(OptionType type, const std::string& text) {
  if (type == OptionType::kBytes) return static_cast<double>(parse_bytes(text).count());
  if (type == OptionType::kRate) return parse_rate(text).value();
  return parse_duration(text).value();
}

std::string canonical_text(OptionType type, double base) {
  if (type == OptionType::kBytes) return canonical_bytes(base);
  if (type == OptionType::kRate) return canonical_rate(base);
  return canonical_duration(base);
}

std::string example_of(OptionType type) {
  if (type == OptionType::kBytes) return "\"25MB\"";
  return type == OptionType::kRate ? "\"1Gbps\"" : "\"50us\"";
}

std::vector<std::string> units_of(OptionType type) {
  if (type == OptionType::kBytes) return {"B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"};
  if (type == OptionType::kRate)
    return {"bps", "kbps", "Mbps", "Gbps", "Tbps", "Bps", "kBps", "MBps", "GBps"};
  return {"ns", "us", "ms", "s", "min", "h"};
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// "1gbps" -> "1Gbps": the number with the nearest unit, or empty.
std::string suggest_unit(OptionType type, const std::string& text) {
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || !std::isfinite(number) || end == text.data() + text.size())
    return "";
  std::string unit(end, text.data() + text.size());
  unit.erase(0, unit.find_first_not_of(' '));
  const std::vector<std::string> units = units_of(type);
  std::string near;
  for (const std::string& each : units)
    if (near.empty() && lower(each) == lower(unit)) near = each;
  if (near.empty()) near = nearest_name(unit, units);
  return near.empty() ? "" : std::string(text.data(), end) + near;
}

std::string type_of(const ordered_json& value) {
  if (value.is_null()) return "null";
  if (value.is_boolean()) return "a boolean";
  if (value.is_number()) return "a number";
  if (value.is_string()) return "a text";
  return value.is_array() ? "a list" : "an object";
}

CheckedValue refuse(std::string problem, std::string suggestion = "") {
  return {nullptr, 0, std::move(problem), std::move(suggestion)};
}

CheckedValue in_range(const Field& field, CheckedValue checked, const ordered_json& given) {
  const OptionSpec& spec = field.spec;
  const double v = checked.base;
  const bool low = spec.min_exclusive ? v <= spec.min : v < spec.min;
  const bool high = spec.max_exclusive ? v >= spec.max : v > spec.max;
  if (!std::isfinite(v)) return refuse(given.dump() + " is not finite");
  if (low || high) return refuse(given.dump() + " is out of range");
  return checked;
}

CheckedValue check_number(const Field& field, const ordered_json& given) {
  if (!given.is_number())
    return refuse(std::string(field.spec.type == OptionType::kInteger ? "an " : "a ") +
                  std::string(name_of(field.spec.type)) + " is needed, not " + type_of(given));
  const double base = given.get<double>();
  if (field.spec.type == OptionType::kNumber) return in_range(field, {base, base, "", ""}, given);
  if (std::abs(base) > 9007199254740991.0) return refuse(given.dump() + " is out of range");
  if (base != std::floor(base)) return refuse(given.dump() + " is not a whole number");
  return in_range(field, {static_cast<std::int64_t>(base), base, "", ""}, given);
}

CheckedValue check_unit_string(const Field& field, const ordered_json& given) {
  const OptionType type = field.spec.type;
  if (given.is_number())
    return refuse("a bare number has no unit; write a text such as " + example_of(type));
  if (!given.is_string())
    return refuse("a " + std::string(name_of(type)) + " with its unit is needed, not " +
                  type_of(given));
  const std::string text = given.get<std::string>();
  try {
    const std::string canonical = canonical_text(type, base_of_text(type, text));
    return in_range(field, {canonical, base_of_text(type, canonical), "", ""}, given);
  } catch (const Error&) {
    return refuse(given.dump() + " is not a " + std::string(name_of(type)) + " with a unit",
                  suggest_unit(type, text));
  }
}

CheckedValue check_text(const Field& field, const ordered_json& given) {
  if (!given.is_string()) return refuse("a text is needed, not " + type_of(given));
  const std::string text = given.get<std::string>();
  if (field.spec.type == OptionType::kChoice) {
    const std::vector<std::string>& choices = field.spec.choices;
    for (const auto& [refused, reason] : field.refused_choices)
      if (refused == text) return refuse(given.dump() + " " + reason);
    if (std::find(choices.begin(), choices.end(), text) == choices.end())
      return refuse(given.dump() + " is not a choice", nearest_name(text, choices));
  }
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
  };
  if (field.identifier && (text.empty() || !std::all_of(text.begin(), text.end(), plain)))
    return refuse(given.dump() + " is not a plain name");
  if (field.required && text.empty()) return refuse("the text is empty");
  return {text, 0, "", ""};
}

}  // namespace

std::string canonical_bytes(double bytes) {
  const std::string text = std::to_string(static_cast<std::int64_t>(bytes)) + "B";
  std::string best = text;
  for (const Unit& unit : kSizes) {
    if (bytes == 0 || std::fmod(bytes, unit.factor) != 0) continue;
    const std::string candidate =
        std::to_string(static_cast<std::int64_t>(bytes / unit.factor)) + std::string(unit.name);
    if (candidate.size() < best.size()) best = candidate;
  }
  return best;
}

std::string canonical_rate(double bits_per_second) {
  return in_fitting_unit(bits_per_second, kRates);
}
std::string canonical_duration(double seconds) {
  return in_fitting_unit(seconds, kTimes);
}

bool is_numeric(const Field& field) {
  const OptionType type = field.spec.type;
  return field.shape == Shape::kValue &&
         (is_unit_string(type) || type == OptionType::kInteger || type == OptionType::kNumber);
}

CheckedValue check_value(const Field& field, const ordered_json& given) {
  switch (field.spec.type) {
    case OptionType::kBoolean:
      if (!given.is_boolean()) return refuse("true or false is needed, not " + type_of(given));
      return {given, 0, "", ""};
    case OptionType::kInteger:
    case OptionType::kNumber:
      return check_number(field, given);
    case OptionType::kText:
    case OptionType::kChoice:
      return check_text(field, given);
    case OptionType::kBytes:
    case OptionType::kRate:
    case OptionType::kDuration:
      return check_unit_string(field, given);
  }
  GRADWIRE_ASSERT(false);
  return {};
}

ordered_json default_value(const Field& field) {
  const std::string& text = field.spec.default_text;
  if (text.empty()) return nullptr;
  ordered_json given = text;
  const OptionType type = field.spec.type;
  if (type == OptionType::kBoolean || type == OptionType::kInteger || type == OptionType::kNumber)
    given = std::visit([](const auto& value) { return ordered_json(value); },
                       parse_option(field.spec, text));
  const CheckedValue checked = check_value(field, given);
  GRADWIRE_ASSERT(checked.problem.empty());
  return checked.value;
}

ordered_json value_of_base(const Field& field, double base) {
  GRADWIRE_ASSERT(is_numeric(field));
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.12g", base);
  double rounded = 0;
  std::from_chars(text.data(), text.data() + std::string_view(text.data()).size(), rounded);
  if (field.spec.type == OptionType::kNumber) return rounded;
  if (field.spec.type == OptionType::kInteger)
    return static_cast<std::int64_t>(std::round(rounded));
  return canonical_text(field.spec.type,
                        field.spec.type == OptionType::kBytes ? std::round(rounded) : rounded);
}

std::string allowed_of(const Field& field) {
  if (field.shape == Shape::kObject || field.shape == Shape::kMap) return "an object";
  if (field.shape == Shape::kList) return "a list";
  if (field.identifier) return "letters, digits, \".\", \"_\" and \"-\"";
  return allowed_text(field.spec);
}

}  // namespace gradwire::scenarios
