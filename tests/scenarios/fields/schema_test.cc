#include <algorithm>
#include <catch2/catch.hpp>
#include <regex>

#include "base/file_descriptor.h"
#include "scenarios/document/pointer.h"
#include "scenarios/fields/docs.h"
#include "scenarios/fields/fields.h"
#include "tests/scenarios/support.h"

using namespace gradwire;
using namespace gradwire::scenarios;
using nlohmann::ordered_json;

namespace {

/// Compares a committed file with what the table gives; GRADWIRE_UPDATE_GOLDEN=1 rewrites it.
void check_committed(const std::string& path, const std::string& text) {
  if (const char* update = std::getenv("GRADWIRE_UPDATE_GOLDEN"); update && *update == '1')
    write_file(path, text);
  INFO(path
       << " differs from the table of fields; GRADWIRE_UPDATE_GOLDEN=1 test_scenarios rewrites it");
  CHECK((read_file(path) == text));
}

/// Every object schema says that it is closed, or, of free keys, what their values are.
void check_closed(const ordered_json& schema, const std::string& at, int& objects) {
  if (schema.is_object() && schema.value("type", ordered_json()) == "object" &&
      at.find("exclude") == std::string::npos) {
    INFO(at);
    const ordered_json others = schema.value("additionalProperties", ordered_json());
    CHECK((others == false || (others.is_object() && !schema.contains("properties"))));
    ++objects;
  }
  if (!schema.is_structured()) return;
  for (const auto& [key, member] : schema.items()) check_closed(member, at + "/" + key, objects);
}

}  // namespace

TEST_CASE("the shipped schema is the table's", "[golden]") {
  check_committed(source_folder() + "/scenarios/schema.json", scenario_schema().dump(2) + "\n");
}

TEST_CASE("the documentation page is the table's", "[golden]") {
  check_committed(source_folder() + "/docs/scenarios.md", scenario_docs());
}

TEST_CASE("the schema is closed everywhere", "[unit]") {
  int objects = 0;
  check_closed(scenario_schema(), "", objects);
  CHECK(objects > 15);
}

/// The schemas of a field: several where codecs share the name of an option.
std::vector<ordered_json> schemas_of(const std::string& pointer) {
  std::vector<ordered_json> found = {scenario_schema()};
  for (const std::string& token : pointer_tokens(pointer)) {
    std::vector<ordered_json> next;
    for (const ordered_json& schema : found) {
      const char* inside = find_at(schema, "/items") ? "/items" : "/additionalProperties";
      const ordered_json* at = token == "*" ? find_at(schema, inside)
                                            : find_at(schema, child_pointer("/properties", token));
      if (!at) continue;
      const bool shared = at->contains("anyOf") && !at->contains("description");
      for (const ordered_json& each : shared ? at->at("anyOf") : ordered_json::array({*at}))
        next.push_back(each);
    }
    found = std::move(next);
  }
  return found;
}

TEST_CASE("every field is in the schema, with its help", "[unit]") {
  for (const Field& field : scenario_table().fields()) {
    if (field.pointer.empty() || field.pointer.starts_with("/seeds/")) continue;
    INFO(field.pointer);
    const std::vector<ordered_json> found = schemas_of(field.pointer);
    CHECK(std::any_of(found.begin(), found.end(), [&](const ordered_json& each) {
      return each["description"].get<std::string>().find(field.spec.help) == 0;
    }));
  }
}

TEST_CASE("the schema's patterns of quantities agree with the reader", "[unit]") {
  const ordered_json schema = scenario_schema();
  const auto pattern = [&](const char* at) {
    return std::regex(schema[ordered_json::json_pointer(at)]["pattern"].get<std::string>());
  };
  const std::regex size = pattern("/properties/exchange/properties/bucket");
  const std::regex rate = pattern("/properties/network/properties/link/properties/bandwidth");
  const std::regex time = pattern("/properties/network/properties/link/properties/delay");
  const auto agrees = [](auto read, const std::regex& regex, const std::string& text) {
    bool accepted = true;
    try {
      read(text);
    } catch (const Error&) {
      accepted = false;
    }
    INFO(text);
    CHECK(std::regex_search(text, regex) == accepted);
  };
  for (const std::string number : {"1", "25", "1.5", "2e3", "", "x", "1,5"}) {
    for (const std::string unit :
         {"", "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "mb", "K"})
      if (number != "1.5" || unit != "B") agrees(parse_bytes, size, number + unit);
    for (const std::string unit :
         {"", "bps", "kbps", "Mbps", "Gbps", "Tbps", "Bps", "kBps", "MBps", "GBps", "gbps"})
      agrees(parse_rate, rate, number + unit);
    for (const std::string unit : {"", "ns", "us", "ms", " s", "min", "h", "sec"})
      agrees(parse_duration, time, number + unit);
  }
}
