#include "results/export/csv.h"

#include <catch2/catch.hpp>

#include "base/error.h"

using namespace gradwire;
using namespace gradwire::results;

TEST_CASE("A table has comments, quotes, blank lines and cells by name") {
  const CsvTable table("# read off\n# a chart\n\na, b ,c\r\n1,\"x, \"\"y\"\"\",\n 2 ,z,3e-1\n",
                       "t");
  CHECK(table.rows() == 2);
  CHECK(table.comment() == "read off a chart");
  CHECK(table.text(0, "b") == "x, \"y\"");
  CHECK(table.positive(1, "a") == 2);
  CHECK(table.positive(1, "c") == 0.3);
  CHECK(table.positive(0, "c", 7) == 7);
  CHECK(table.positive(0, "d", 8) == 8);
}

TEST_CASE("What is quoted is read back") {
  const std::string text = "a \"quoted\", b\nline";
  CHECK(csv_quoted("plain") == "plain");
  CHECK(csv_quoted("a,\"b\"") == "\"a,\"\"b\"\"\"");
}

TEST_CASE("Errors name file, line and column") {
  CHECK_THROWS_WITH(CsvTable("", "t.csv"), Catch::Contains("t.csv: it has no header"));
  CHECK_THROWS_WITH(CsvTable("a,b\n", "t.csv"), Catch::Contains("no row"));
  CHECK_THROWS_WITH(CsvTable("a,a\n1,2\n", "t.csv"), Catch::Contains("t.csv:1: the column a"));
  CHECK_THROWS_WITH(CsvTable("a,b\n1,2\n1\n", "t.csv"),
                    Catch::Contains("t.csv:3: 1 cells under 2 columns"));
  CHECK_THROWS_WITH(CsvTable("a\n\"x\n", "t.csv"), Catch::Contains("t.csv:2: a quote"));
  const CsvTable table("gpus,rate\n1,fast\n2,-1\n3,nan\n4,inf\n", "t.csv");
  CHECK_THROWS_WITH(table.positive(0, "rate"), Catch::Contains("t.csv:2: rate: \"fast\""));
  for (const std::size_t row : {1, 2, 3})
    CHECK_THROWS_WITH(table.positive(row, "rate"), Catch::Contains("not above 0"));
  CHECK_THROWS_WITH(table.expect({"gpu", "rate"}, {}), Catch::Contains("did you mean \"gpu\"?"));
  CHECK_THROWS_WITH(table.expect({"gpus", "rate", "model"}, {}),
                    Catch::Contains("the column model is missing"));
}
