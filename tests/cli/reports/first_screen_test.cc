#include <catch2/catch.hpp>

#include "base/file_descriptor.h"
#include "tests/cli/output/stored_figures.h"
#include "tests/cli/program.h"

// The report's first screen, read as a planner reads it.

using namespace gradwire;
using namespace gradwire::testing;

TEST_CASE("the check of the first screen finds a wrong figure", "[golden]") {
  CHECK(figures("14.6 \u00b1 0.1 ms a step").size() == 2);
  CHECK(figures("14.6 \u00b1 0.1 ms a step")[0].value == Approx(0.0146));
  CHECK(figures("0.602 worker-h, 41.8 MB")[0].value == Approx(2167.2));
  CHECK(figures("of 400 asked 84 (21 %)")[2].value == Approx(0.21));
  CHECK(wrong_in("14.6 \u00b1 0.1 ms a step", {0.0146, 1e-4}) == "");
  CHECK(wrong_in("14.6 \u00b1 0.1 ms a step", {0.0149, 1e-4}) != "");
  CHECK(wrong_in("14.6 \u00b1 0.1 ms a step", {0.0146, 3e-4}) != "");
  CHECK(wrong_in("14.6 ms a step, 3 times as fast", {0.0146}) != "");
}

TEST_CASE("every figure on a report's first screen is what the store says",
          "[golden][needs-torch]") {
  require_training();
  const TemporaryFolder folder;
  const std::string path = folder.file("runs.db"), page = folder.file("report.html");
  run_shipped_scenarios(path);
  REQUIRE(run_program({"report", "--db", path, "-o", page}).exit_code == 0);
  const results::Connection database(path, results::Connection::Access::kReadOnly, 1000);
  const std::vector<Cells> screen = first_screen(read_file(page));
  const Compared compared = compare_with_store(screen, database);
  CHECK(compared.wrong == std::vector<std::string>());
  CHECK(compared.seen.size() == 6);
  CHECK(missed_damage(screen, database) == std::vector<std::string>());
}
