#include "trainers/updates/optimizer.h"

#include <catch2/catch.hpp>

#include "scenarios/fields.h"

namespace gradwire::trainers {
namespace {

TEST_CASE("an optimiser is known by its name on every device, or refused") {
  CHECK(optimizer_kind("sgd") == OptimizerKind::kSgd);
  CHECK(optimizer_kind("adam") == OptimizerKind::kAdam);
  // What scenarios offer is what there is.
  std::vector<std::string> names;
  for (const scenarios::Field& field : scenarios::scenario_table().fields())
    if (field.pointer == "/workload/optimizer/name") names = field.spec.choices;
  REQUIRE(names.size() >= 2);
  for (const std::string& name : names) CHECK_NOTHROW(optimizer_kind(name));
  CHECK_THROWS_WITH(optimizer_kind("rmsprop"), Catch::Matchers::Contains("choose sgd or adam"));
}

}  // namespace
}  // namespace gradwire::trainers
