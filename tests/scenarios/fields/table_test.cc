#include <catch2/catch.hpp>
#include <set>

#include "compressors/codec.h"
#include "scenarios/document/pointer.h"
#include "scenarios/fields/fields.h"
#include "scenarios/methods.h"

using namespace gradwire;
using namespace gradwire::scenarios;

TEST_CASE("concrete pointers find their row", "[unit]") {
  const FieldTable& table = scenario_table();
  REQUIRE(table.find("/network/links/12/loss"));
  CHECK(table.find("/network/links/12/loss")->pointer == "/network/links/*/loss");
  CHECK(table.find("/network/link/loss")->field().spec.name == "loss");
  CHECK(table.find("/network/link/lossy") == nullptr);
  CHECK(table.find("network") == nullptr);
  CHECK(table.find("")->field().shape == Shape::kObject);
}

TEST_CASE("options of every codec and method are fields, under its condition", "[unit]") {
  std::set<std::string> conditions;
  for (const Field& field : scenario_table().fields())
    if (field.when && field.when->pointer == "/method/name" &&
        field.when->values_text() != "compressed")
      conditions.insert(field.when->values_text() + " " + field.spec.name);
  std::set<std::string> expected;
  for (const auto& codec : compressors::codec_catalogue())
    if (why_no_gradient_codec(codec).empty() && !methods::find_method(codec.name))
      for (const OptionSpec& option : codec.options)
        expected.insert(codec.name + " " + option.name);
  for (const auto& method : methods::method_catalogue())
    for (const OptionSpec& option : method.options)
      expected.insert(method.name + " " + option.name);
  CHECK(expected.contains("dgc warmup"));
  CHECK(conditions == expected);
  CHECK(conditions.contains("topk ratio"));
}

TEST_CASE("options of one name in two codecs share a place", "[unit]") {
  std::vector<Field> rows(4);
  rows[0] = {.pointer = "", .shape = Shape::kObject};
  rows[1] = {.pointer = "/name"};
  rows[2] = {.pointer = "/ratio"};
  rows[3] = {.pointer = "/ratio"};
  const FieldTable table(std::move(rows));
  CHECK(table.find("/ratio")->fields.size() == 2);
  CHECK(table.root().children.size() == 2);
}

TEST_CASE("pointers are escaped and split", "[unit]") {
  CHECK(child_pointer("/sweep", "/a/b~c") == "/sweep/~1a~1b~0c");
  CHECK(pointer_tokens("/sweep/~1a~1b~0c/0") == std::vector<std::string>{"sweep", "/a/b~c", "0"});
  CHECK(parent_pointer("/a/b") == "/a");
  CHECK(is_at_or_below("/a/b", "/a"));
  CHECK_FALSE(is_at_or_below("/ab", "/a"));
  nlohmann::ordered_json json = {{"list", {1, 2}}};
  CHECK(assign_at(json, "/new/deep", 5));
  CHECK(*find_at(json, "/new/deep") == 5);
  CHECK(assign_at(json, "/list/1", 7));
  CHECK_FALSE(assign_at(json, "/list/2", 7));
  CHECK_FALSE(assign_at(json, "/list/x", 7));
  CHECK(find_at(json, "/list/1/2") == nullptr);
}
