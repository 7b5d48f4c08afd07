#include "bench/rows/alone.h"

#include <catch2/catch.hpp>
#include <stdexcept>

#include "base/error.h"

using namespace gradwire;
using namespace gradwire::bench;

TEST_CASE("a benchmark alone exits as the command does", "[unit]") {
  const auto code_of = [](double value) {
    return run_alone("test", [value](const Say&) {
      return std::vector<BenchRow>{
          {.name = "seconds", .value = value, .bar = 2, .provenance = "measured"}};
    });
  };
  CHECK(code_of(1) == 0);
  CHECK(code_of(3) == exit_code(ErrorKind::kGate));
}

TEST_CASE("what a benchmark alone throws becomes its exit code", "[unit]") {
  CHECK(run_alone("test", [](const Say&) -> std::vector<BenchRow> {
          throw Error(ErrorKind::kCapability, "measure", "it", "not here");
        }) == exit_code(ErrorKind::kCapability));
  CHECK(run_alone("test", [](const Say&) -> std::vector<BenchRow> {
          throw std::runtime_error("foreign");
        }) == exit_code(ErrorKind::kFailure));
}
