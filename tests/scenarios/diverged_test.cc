#include "scenarios/diverged.h"

#include <catch2/catch.hpp>

#include "tests/scenarios/support.h"

using namespace gradwire::scenarios;
using Catch::Contains;

namespace {

std::string overflow(const std::string& method) {
  const std::string text = scenario_with(R"(, "method": )" + method);
  return overflow_of(read_scenario_text(text, "t.json").runs.front());
}

}  // namespace

TEST_CASE("a training that diverges is told of a codec that sends infinity") {
  const std::string fp16 = overflow(R"({"name": "fp16"})");
  CHECK(fp16 == "codec fp16 sends what is beyond 65504 as infinity");
  CHECK(overflow(R"({"name": "compressed", "codec": {"name": "none"},
                     "rules": [{"dimensions_below": 2, "codec": {"name": "fp16"}}]})") == fp16);
  // What sends the largest value instead, what has binary32's range, what skips such steps.
  for (const char* other : {R"({"name": "fp16", "overflow": "saturate"})", R"({"name": "bf16"})",
                            R"({"name": "mixed-precision"})", R"({"name": "none"})",
                            R"({"name": "topk"})", R"({"name": "terngrad"})"}) {
    CAPTURE(other);
    CHECK(overflow(other).empty());
  }
  const auto remedy = [](const std::string& method) {
    return diverged_remedy(
        read_scenario_text(scenario_with(R"(, "method": )" + method), "t.json").runs.front());
  };
  CHECK(remedy(R"({"name": "none"})") == "a smaller learning rate, or clipped gradients, may help");
  CHECK_THAT(remedy(R"({"name": "fp16"})"), Contains("65504") && Contains("overflow=saturate") &&
                                                Contains("smaller learning rate"));
}
