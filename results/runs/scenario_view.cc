#include "results/runs/scenario_view.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/units.h"

namespace gradwire::results {
namespace {

using Json = nlohmann::ordered_json;

Json parsed(const std::string& text) {
  return Json::parse(text, nullptr, false);
}

std::string leaf_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

bool is_leaf(const Json& value) {
  if (value.is_object()) return value.empty();
  if (!value.is_array()) return true;
  return std::none_of(value.begin(), value.end(),
                      [](const Json& item) { return item.is_structured(); });
}

void collect(const Json& value, const std::string& pointer,
             std::map<std::string, std::string>& leaves) {
  if (is_leaf(value)) {
    leaves[pointer] = leaf_text(value);
    return;
  }
  if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i)
      collect(value[i], pointer + "/" + std::to_string(i), leaves);
  else
    for (const auto& [key, item] : value.items()) collect(item, pointer + "/" + key, leaves);
}

bool only_names(const std::string& pointer) {
  for (const char* start :
       {"/name", "/description", "/expected", "/prices", "/seed", "/sweep", "/$schema", "/zip"})
    if (pointer.starts_with(start)) return true;
  return false;
}

template <class Parse>
bool try_unit(Parse parse, std::string_view text, double& value) {
  try {
    value = parse(text);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::map<std::string, std::string> scenario_leaves(const std::string& json) {
  std::map<std::string, std::string> leaves;
  const Json root = parsed(json);
  if (root.is_object() && !root.empty()) collect(root, "", leaves);
  return leaves;
}

std::string scenario_value(const std::string& json, const std::string& pointer) {
  const auto leaves = scenario_leaves(json);
  const auto found = leaves.find(pointer);
  return found == leaves.end() ? std::string() : found->second;
}

LeavesOfRuns leaves_of_runs(std::span<const RunSummary> runs) {
  LeavesOfRuns all;
  std::unordered_map<std::string_view, std::size_t> numbers;
  std::map<std::string, std::map<std::size_t, std::string>> texts;  // pointer -> scenario -> text
  for (const RunSummary& run : runs) {
    const auto [found, fresh] = numbers.try_emplace(run.header.scenario_json, numbers.size());
    all.scenario_of.push_back(found->second);
    if (!fresh) continue;
    for (auto& [pointer, text] : scenario_leaves(run.header.scenario_json))
      texts[pointer].emplace(found->second, std::move(text));
  }
  for (auto& [pointer, by_scenario] : texts) {
    const std::string& first = by_scenario.begin()->second;
    const bool varied = std::any_of(by_scenario.begin(), by_scenario.end(),
                                    [&](const auto& each) { return each.second != first; });
    if (!varied && by_scenario.size() == numbers.size()) {
      all.alike.emplace(pointer, first);
    } else if (!only_names(pointer)) {
      LeavesOfRuns::Leaf leaf{pointer, std::vector<std::string>(numbers.size()), varied};
      for (auto& [scenario, text] : by_scenario) leaf.texts[scenario] = std::move(text);
      all.differing.push_back(std::move(leaf));
    }
  }
  return all;
}

std::vector<std::string> differing_pointers(std::span<const RunSummary> runs) {
  std::vector<std::string> result;
  for (LeavesOfRuns::Leaf& leaf : leaves_of_runs(runs).differing)
    result.push_back(std::move(leaf.pointer));
  return result;
}

std::string short_name(std::string_view pointer) {
  const std::size_t slash = pointer.rfind('/');
  std::string name(slash == std::string_view::npos ? pointer : pointer.substr(slash + 1));
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

bool number_from(std::string_view text, double& value) {
  const char* end_of_text = text.data() + text.size();
  const auto [end, status] = std::from_chars(text.data(), end_of_text, value);
  if (status != std::errc{} || std::isnan(value)) return false;
  if (end == end_of_text) return true;
  if (std::string_view(end, 1) == "%" && end + 1 == end_of_text) {
    value /= 100;
    return true;
  }
  return try_unit([](auto t) { return parse_duration(t).value(); }, text, value) ||
         try_unit([](auto t) { return parse_rate(t).value(); }, text, value) ||
         try_unit([](auto t) { return static_cast<double>(parse_bytes(t).count()); }, text, value);
}

}  // namespace gradwire::results
