#include "scenarios/document/document.h"

#include <catch2/catch.hpp>

using namespace gradwire;
using namespace gradwire::scenarios;

TEST_CASE("every value knows its line", "[unit]") {
  const std::string text =
      "{\n"                    // 1
      "  \"a\": 12\n"          // 2: the number's end is only known on the next line
      "  ,\"b\": [1,\n"        // 3
      "    {\"c\": true}],\n"  // 4
      "  \"d/e~\":\n"          // 5
      "     \"x\"\n"           // 6: a member stands where its key stands
      "}\n";
  ProblemList problems;
  const Document document = parse_document(text, "f", problems);
  CHECK(problems.empty());
  CHECK(document.line_of("/a") == 2);
  CHECK(document.line_of("/b") == 3);
  CHECK(document.line_of("/b/0") == 3);
  CHECK(document.line_of("/b/1") == 4);
  CHECK(document.line_of("/b/1/c") == 4);
  CHECK(document.line_of("/d~1e~0") == 5);
  CHECK(document.line_of("/b/1/missing/deeper") == 4);  // the nearest value around it
  CHECK(document.root == nlohmann::ordered_json::parse(text));
}

TEST_CASE("syntax errors name line and column", "[unit]") {
  const auto first = [](const std::string& text) {
    ProblemList problems;
    parse_document(text, "f.json", problems);
    return problems.empty() ? Problem{} : problems.all().front();
  };
  const Problem comma = first("{\n  \"a\": 1,\n  }");
  CHECK(comma.line == 3);
  CHECK(comma.column == 3);
  CHECK(comma.message.find("not valid JSON") == 0);
  CHECK(first("{\"a\": 1\n").message.find("unexpected end of input") != std::string::npos);
  CHECK(first("{\"a\": NaN}").line == 1);
  CHECK(first("{\n\"a\": 1e999}").message.find("number overflow") != std::string::npos);
  CHECK(first("{\n\"a\": 1e999}").line == 2);
  CHECK(first("").message.find("not valid JSON") == 0);
  CHECK(first("{} x").message.find("not valid JSON") == 0);
  CHECK(first("{\"a\": \"\xff\"}").message.find("not valid JSON") == 0);
  CHECK(first("{}").message.empty());
}

TEST_CASE("duplicate keys are problems, with the later one's line", "[unit]") {
  ProblemList problems;
  parse_document("{\"a\": 1,\n\"b\": {\"c\": 1,\n\"c\": 2},\n\"a\": 3}", "f", problems);
  REQUIRE(problems.all().size() == 2);
  CHECK(problems.all()[0].pointer == "/b/c");
  CHECK(problems.all()[0].line == 3);
  CHECK(problems.all()[1].pointer == "/a");
  CHECK(problems.all()[1].line == 4);
}

TEST_CASE("depth and length do no harm", "[unit]") {
  ProblemList problems;
  parse_document(std::string(100'000, '['), "f", problems);
  REQUIRE(problems.all().size() == 1);
  CHECK(problems.all()[0].message.find("nested too deeply") != std::string::npos);
}
