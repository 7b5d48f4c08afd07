#include <catch2/catch.hpp>

#include "tests/compressors/codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;
using Catch::Matchers::Contains;

/// A codec that the catalogue has got by a name and a folder.

TEST_CASE("an added codec is in the catalogue, behind all others") {
  REQUIRE(codec_catalogue().back().name == "toy");
  CHECK(codec_catalogue().size() > 26);
  CHECK(make_codec("toy")->name() == "toy");
  CHECK_THROWS_WITH(make_codec("toi"), Contains("did you mean \"toy\"?"));
}

TEST_CASE("an added codec's size, refusals, packed elements and fields follow from its layout") {
  // Of a largest magnitude of 127, 127ths are ones: codes 127 + 127, 127 - 1 and 127.
  const auto codec = make_codec("toy");
  const auto payload = encode(*codec, {127, -1, 0.25f});
  CHECK(hex(payload) ==
        "030000000000fe42"
        "fe7e7f");
  CHECK(codec->max_encoded_size(3) == 11);
  CHECK(decode(*codec, payload, 3) == std::vector<float>{127, -1, 0});
  const auto packed = codec->packed_elements(3);
  REQUIRE(packed);
  CHECK((packed->head == 8 && packed->bits == 8 && packed->bucket == 0));

  const auto fields = codec->explain(payload, 3, {});
  REQUIRE(fields.size() == 3);
  CHECK((fields[0].name == "n" && fields[0].value == "3" && fields[0].type == "u32"));
  CHECK((fields[1].name == "largest" && fields[1].offset == 4 && fields[1].value == "127"));
  CHECK((fields[2].name == "codes" && fields[2].bytes == 3 && fields[2].value == "254, 126, 127"));

  const auto refused = [&](std::size_t at, int byte, const char* reason) {
    auto bad = payload;
    bad[at] = static_cast<std::byte>(byte);
    CHECK_THROWS_WITH(decode(*codec, bad, 3), Contains(reason));
    CHECK_THROWS_WITH(codec->explain(bad, 3, {}), Contains(reason));
  };
  refused(0, 4, "byte 0 begins a count of 4 for 3 elements");
  refused(7, 0xC2, "byte 4 begins a magnitude that is not finite and >= 0");
  refused(9, 0xFF, "byte 9 holds a code above 254");
  CHECK_THROWS_WITH(decode(*codec, payload, 4), Contains("it ends at byte 11"));
}
