#include "results/points/nccl_json.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "results/points/log_lines.h"

namespace gradwire::results {
namespace {

using Json = nlohmann::json;
constexpr const char* kPlaces[] = {"out_of_place", "in_place"};

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

/// A program's name without its folder.
std::string program(const Json& arguments) {
  const std::string path = arguments.empty() ? "" : arguments.at(0).get<std::string>();
  return path.substr(path.rfind('/') + 1);
}

void add_ranks(const Json& devices, std::string& table) {
  for (const Json& device : devices)
    table += "#  Rank " + std::to_string(device.at("rank").get<int>()) + " on " +
             device.value("hostname", std::string("host")) + "\n";
}

/// Which of the two places was measured; one of them is null where it was not.
void add_columns(const Json& first, std::string& table) {
  table += "# size";
  for (const char* place : kPlaces)
    if (first.contains(place) && !first.at(place).is_null())
      table += std::string(first.at(place).contains("cpu_time") ? " cputime" : " time") +
               " algbw busbw #wrong";
  table += "\n";
}

void add_row(const Json& row, std::string& table) {
  table += std::to_string(row.at("size").get<std::int64_t>());
  for (const char* place : kPlaces) {
    if (!row.contains(place) || row.at(place).is_null()) continue;
    const Json& timing = row.at(place);
    const bool host = timing.contains("cpu_time");
    table += " " + number(timing.at(host ? "cpu_time" : "time").get<double>()) + " " +
             number(timing.at("alg_bw").get<double>()) + " " +
             number(timing.at("bus_bw").get<double>()) + " ";
    const Json wrong = timing.value("nwrong", Json());
    table += wrong.is_number() ? number(wrong.get<double>()) : "N/A";
  }
  table += "\n";
}

}  // namespace

bool is_nccl_json(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' &&
         text.find("\"alg_bw\"") != std::string_view::npos;
}

std::string nccl_table_of_json(std::string_view text, const std::string& file) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded())
    refuse_log(file, 0, "it is cut off, or no JSON", "let the test end; it writes the file's end");
  try {
    const Json& results = json.at("results");
    std::string table = "# Collective test starting: " + program(json.at("args")) + "\n";
    if (json.contains("config")) add_ranks(json["config"].value("devices", Json::array()), table);
    if (!results.empty()) add_columns(results.at(0), table);
    for (const Json& row : results) add_row(row, table);
    if (json.contains("average_bus_bandwidth")) table += "# Avg bus bandwidth\n";
    return table;
  } catch (const Json::exception& error) {
    refuse_log(file, 0, std::string("it is not of the form that nccl-tests write: ") + error.what(),
               "give the file of -J as it is, or what the test prints");
  }
}

}  // namespace gradwire::results
