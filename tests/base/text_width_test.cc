#include "base/text_width.h"

#include <catch2/catch.hpp>

using namespace gradwire;
using Lines = std::vector<std::string>;

TEST_CASE("width is counted in columns, not bytes", "[unit]") {
  CHECK(display_width("µs") == 2);
  CHECK(display_width("±") == 1);
  CHECK(display_width("") == 0);
}

TEST_CASE("text is broken at spaces, pointers before slashes, lists after commas", "[unit]") {
  CHECK(wrapped("one two three", 7) == Lines{"one two", "three"});
  CHECK(wrapped("one two three", 3) == Lines{"one", "two", "thr", "ee"});
  CHECK(wrapped("/network/link/bandwidth", 15) == Lines{"/network/link", "/bandwidth"});
  CHECK(wrapped("see docs/commands.md", 16) == Lines{"see", "docs/commands.md"});
  CHECK(wrapped("topk,dgc,qsgd", 9) == Lines{"topk,dgc,", "qsgd"});
  CHECK(wrapped("halving-doubling", 10) == Lines{"halving-", "doubling"});
  CHECK(wrapped("flow.ring.n256", 10) == Lines{"flow.ring.", "n256"});
  CHECK(wrapped("about 1.25", 8) == Lines{"about", "1.25"});
  CHECK(wrapped("a -5", 3) == Lines{"a", "-5"});
  CHECK(wrapped("first\nsecond", 0) == Lines{"first", "second"});
  CHECK(wrapped("first\n\nsecond one", 6) == Lines{"first", "", "second", "one"});
  CHECK(wrapped("", 5) == Lines{""});
  CHECK(wrapped("µµµµ", 2) == Lines{"µµ", "µµ"});
}

TEST_CASE("the widest piece is what cannot be broken", "[unit]") {
  CHECK(widest_piece("one three two") == 5);
  CHECK(widest_piece("/network/bandwidth") == 10);
  CHECK(widest_piece("") == 0);
}
