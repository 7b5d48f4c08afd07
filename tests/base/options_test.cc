#include "base/options.h"

#include <catch2/catch.hpp>

#include "base/error.h"

using namespace gradwire;

namespace {
const OptionTable kTable = {
    {.name = "clip", .type = OptionType::kNumber, .default_text = "2.5", .help = "", .min = 0},
    {.name = "mode",
     .type = OptionType::kChoice,
     .default_text = "exact",
     .help = "",
     .choices = {"exact", "sampled"}},
    {.name = "bucket", .type = OptionType::kBytes, .default_text = "25MB", .help = "", .min = 1},
    {.name = "shared", .type = OptionType::kBoolean, .default_text = "true", .help = ""}};
}

TEST_CASE("option tables: defaults, overrides and base units", "[unit]") {
  const OptionValues values(kTable, {{"clip", "3"}});
  CHECK(values.number("clip") == 3.0);
  CHECK(values.text("mode") == "exact");
  CHECK(values.number("bucket") == 25e6);
  CHECK(values.boolean("shared"));
}

TEST_CASE("option tables refuse unknown names, ranges and choices, and suggest", "[unit]") {
  using Catch::Contains;
  CHECK_THROWS_WITH(OptionValues(kTable, {{"clp", "3"}}), Contains("did you mean \"clip\""));
  CHECK_THROWS_WITH(OptionValues(kTable, {{"clip", "-1"}}), Contains(">= 0"));
  CHECK_THROWS_WITH(OptionValues(kTable, {{"clip", "2x"}}), Contains("not a number"));
  CHECK_THROWS_WITH(OptionValues(kTable, {{"mode", "exakt"}}), Contains("exact"));
  CHECK_THROWS_AS(OptionValues(kTable, {{"bucket", "25"}}), Error);
  CHECK_THROWS_AS(OptionValues(kTable, {{"shared", "yes"}}), Error);
}

TEST_CASE("the nearest name is near or empty", "[unit]") {
  const std::vector<std::string> names = {"bandwidth", "delay", "loss"};
  CHECK(nearest_name("bandwith", names) == "bandwidth");
  CHECK(nearest_name("los", names) == "loss");
  CHECK(nearest_name("zzzzzz", names).empty());
  CHECK(nearest_name("LOSS", names) == "loss");  // names are written in any case
}
