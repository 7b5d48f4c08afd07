#include "results/points/nccl_json.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "results/points/json_documents.h"
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

/// One word of a table: without blanks and control characters; `missing` where nothing is left.
std::string word(std::string text, const char* missing) {
  std::erase_if(text, [](unsigned char letter) { return letter <= ' '; });
  return text.empty() ? missing : text;
}

std::string word(const Json& row, const char* name, const char* missing) {
  return word(row.value(name, std::string()), missing);
}

/// A program's name without its folder.
std::string program(const Json& arguments) {
  const std::string path = arguments.empty() ? "" : arguments.at(0).get<std::string>();
  return word(path.substr(path.rfind('/') + 1), "?");
}

/// A whole number of 0 or more, as it is written; a float or a negative one is of another form.
std::string whole(const Json& object, const char* name) {
  return std::to_string(object.at(name).get_ref<const Json::number_unsigned_t&>());
}

std::string whole(const Json& object, const char* name, const char* missing) {
  return object.contains(name) ? whole(object, name) : missing;
}

void add_config(const Json& config, std::string& table) {
  table += "# nThread " + whole(config, "nthreads", "1") + " nGpus " + whole(config, "ngpus", "1") +
           "\n";
  for (const Json& device : config.value("devices", Json::array()))
    table += "#  Rank " + whole(device, "rank") + " Group " + whole(device, "group", "0") +
             " Pid " + whole(device, "pid", "0") + " on " + word(device, "hostname", "host") +
             " device\n";
}

/// Which of the two places was measured; one of them is null where it was not.
void add_columns(const Json& first, std::string& table) {
  table += "# size count type redop root";
  for (const char* place : kPlaces)
    if (first.contains(place) && !first.at(place).is_null())
      table += std::string(first.at(place).contains("cpu_time") ? " cputime" : " time") +
               " algbw busbw #wrong";
  table += "\n";
}

void add_row(const Json& row, std::string& table) {
  table += whole(row, "size") + " " + whole(row, "count", "0") + " " + word(row, "type", "-") +
           " " + word(row, "redop", "none") + " " + word(row, "root", "-1");
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

void add_test(const Json& json, std::string& table) {
  const Json& results = json.at("results");
  table += "# Collective test starting: " + program(json.at("args")) + "\n";
  add_config(json.value("config", Json::object()), table);
  if (!results.empty()) add_columns(results.at(0), table);
  for (const Json& row : results) add_row(row, table);
  if (json.contains("average_bus_bandwidth")) table += "# Avg bus bandwidth\n";
}

}  // namespace

bool is_nccl_json(std::string_view text) {
  return has_json_documents(text) && text.find("\"alg_bw\"") != std::string_view::npos;
}

std::string nccl_table_of_json(std::string_view text, const std::string& file,
                               std::vector<std::string>& unread) {
  const JsonDocuments found = read_json_documents(text, file);
  unread = found.unread;
  std::string table;
  for (const JsonDocument& document : found.documents) try {
      add_test(document.value, table);
    } catch (const Json::exception& error) {
      refuse_log(file, document.line,
                 std::string("it is not of the form that nccl-tests write: ") + error.what(),
                 "give the file of -J as it is, or what the test prints");
    }
  return table;
}

}  // namespace gradwire::results
