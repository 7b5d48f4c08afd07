#include "engines/work_list.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace gradwire::engines {
namespace {

using nlohmann::ordered_json;

[[noreturn]] void refuse_line(const std::string& reason) {
  throw Error(ErrorKind::kFailure, "read", "a run of a sweep's list", reason,
              "start the sweep again, with the same version on every machine");
}

}  // namespace

// "PLACE ALONE {...}": who hands lines out need not read the scenario.
std::string line_of(std::size_t place, const scenarios::Scenario& scenario, bool alone,
                    const std::string& uid, std::optional<sim::Detail> detail) {
  const ordered_json json = {{"file", scenario.file},
                             {"hash", scenario.hash},
                             {"uid", uid},
                             {"detail", detail ? sim::name_of(*detail) : ""},
                             {"scenario", scenario.json}};
  return std::to_string(place) + (alone ? " 1 " : " 0 ") + json.dump();
}

WorkLabel label_of(std::string_view line) {
  WorkLabel label;
  const auto [end, problem] = std::from_chars(line.data(), line.data() + line.size(), label.place);
  const auto at = static_cast<std::size_t>(end - line.data());
  if (problem != std::errc{} || line.size() < at + 3) refuse_line("it has no place");
  label.alone = line[at + 1] == '1';
  return label;
}

WorkItem item_of(std::string_view line) {
  const WorkLabel label = label_of(line);
  const std::size_t begin = line.find('{');
  const ordered_json json = begin == std::string_view::npos
                                ? ordered_json()
                                : ordered_json::parse(line.substr(begin), nullptr, false);
  if (!json.is_object()) refuse_line("it is no JSON object");
  WorkItem item{label.place,
                label.alone,
                json.at("uid").get<std::string>(),
                sim::detail_named(json.at("detail").get<std::string>()),
                {}};
  const std::string text = json.at("scenario").dump();
  auto file = scenarios::read_scenario_text(text, json.at("file").get<std::string>());
  if (file.runs.size() != 1) refuse_line("it is of several runs");
  item.scenario = std::move(file.runs.front());
  if (item.scenario.hash != json.at("hash").get<std::string>() || item.scenario.json.dump() != text)
    refuse_line("its scenario reads otherwise here than where the sweep was started");
  return item;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace gradwire::engines
