#include "base/plain_text.h"

#include <catch2/catch.hpp>

using namespace gradwire;

TEST_CASE("UTF-8 is what RFC 3629 takes") {
  for (const char* text :
       {"", "plain", "na\xC3\xAFve", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"})
    CHECK(is_utf8(text));
  // A lone byte, a torn character, overlong forms, a surrogate, beyond U+10FFFF.
  for (const char* text : {"\xFF", "\x80", "a\xC3", "\xC3\x28", "\xC0\xAF", "\xE0\x80\xAF",
                           "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF0\x9F\x98"})
    CHECK_FALSE(is_utf8(text));
}

TEST_CASE("what moves a cursor is written out, and nothing else") {
  CHECK(printable("two\nlines\tand \xC3\xA9") == "two\nlines\tand \xC3\xA9");
  CHECK(printable("\x1B[31mred") == "\\x1B[31mred");
  CHECK(printable("\xC2\x9B"
                  "31m") ==
        "\\xC2\\x9B"
        "31m");  // C1's CSI
  CHECK(printable("a\xFF"
                  "b\r\x7F") ==
        "a\\xFF"
        "b\\x0D\\x7F");
  // What turns the direction of text may show a name as another one.
  CHECK(printable("a\xE2\x80\xAE"
                  "b") ==
        "a\\xE2\\x80\\xAE"
        "b");
  CHECK(has_control("\xE2\x81\xA6"));
  CHECK_FALSE(has_control("\xE2\x80\x93 \xE2\x82\xAC"));  // a dash, a euro
  CHECK(has_control("a\nb"));
  CHECK(has_control("\xC2\x80"));
  CHECK_FALSE(has_control("caf\xC3\xA9 \xFF"));
}

TEST_CASE("whole lines are cut off, and what has no end yet stays") {
  std::string text = "one\n\nthr";
  CHECK(take_lines(text) == std::vector<std::string>{"one", ""});
  CHECK(text == "thr");
  CHECK(take_lines(text).empty());
  text += "ee\n";
  CHECK(take_lines(text) == std::vector<std::string>{"three"});
  CHECK(text.empty());
}

TEST_CASE("a file's bytes become lines; UTF-16 and what is no text are refused") {
  CHECK(text_in_lines("a\nb\r\n", "f") == "a\nb\r\n");
  CHECK(text_in_lines("a\rb\r", "f") == "a\nb\n");
  CHECK(text_in_lines("\xEF\xBB\xBF"
                      "a\n",
                      "f") == "a\n");
  CHECK(text_in_lines("", "f").empty());
  using Catch::Contains;
  const std::string letters("a\0b\0c\0", 6), swapped("\0a\0b\0c", 6), one("abcdefgh\nij\0k", 13);
  CHECK_THROWS_WITH(text_in_lines("\xFF\xFE" + letters, "f"),
                    Contains("cannot read f: its text is UTF-16"));
  CHECK_THROWS_WITH(text_in_lines("\xFE\xFF" + swapped, "f"), Contains("UTF-16"));
  CHECK_THROWS_WITH(text_in_lines(letters, "f"), Contains("UTF-16"));
  CHECK_THROWS_WITH(text_in_lines(one, "f"), Contains("f:2: byte 11 is 0"));
}
