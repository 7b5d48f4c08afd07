#include <catch2/catch.hpp>

#include "codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using Catch::Matchers::Contains;

TEST_CASE("the catalogue describes each codec as it is") {
  REQUIRE(codec_catalogue().size() >= 4);
  for (const CodecInfo& info : codec_catalogue()) {
    const CodecPtr codec = make_codec(info.name);
    CHECK(codec->name() == info.name);
    CHECK(codec->policy() == info.policy);
    CHECK((codec->sum_terms() != nullptr) == (info.policy == AggregatePolicy::kSum));
    CHECK_FALSE(info.summary.empty());
    CHECK_FALSE(info.source.empty());
    for (const OptionSpec& option : info.options) {
      CHECK_FALSE(option.help.empty());
      CHECK_NOTHROW(parse_option(option, option.default_text));
    }
  }
}

TEST_CASE("unknown names and bad options are refused with what is allowed") {
  CHECK_THROWS_WITH(make_codec("terngard"), Contains("did you mean \"terngrad\"?"));
  CHECK_THROWS_WITH(make_codec("zip"), Contains("none, fp16, "));
  CHECK_THROWS_WITH(make_codec("topk", {{"ratio", "0"}}), Contains("ratio"));
  CHECK_THROWS_WITH(make_codec("topk", {{"ratio", "1.5"}}), Contains("ratio"));
  CHECK_THROWS_WITH(make_codec("topk", {{"rate", "0.1"}}), Contains("ratio"));
  CHECK_THROWS_WITH(make_codec("terngrad", {{"clip", "-1"}}), Contains("clip"));
  CHECK_THROWS_WITH(make_codec("none", {{"clip", "1"}}), Contains("clip"));
}
