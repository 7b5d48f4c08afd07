#include "scenarios/kernels/model_family.h"

#include <catch2/catch.hpp>

namespace gradwire::scenarios {
namespace {

TEST_CASE("a layer table's family is what most of its time goes into", "[unit]") {
  const auto family = [](const char* name) { return family_of(load_workload_profile(name, "")); };
  CHECK(family("resnet50") == "convolutional");
  CHECK(family("gpt2-xl") == "attention");
  CHECK(family("bert-large") == "attention");
  CHECK(family("lstm-ptb") == "recurrent");
  CHECK(family("llama3-8b") == "attention");
  CHECK(family_of(WorkloadProfile{}) == "dense");
  CHECK(trained_by_adam(load_workload_profile("bert-large", "")));
  CHECK_FALSE(trained_by_adam(load_workload_profile("resnet50", "")));
}

}  // namespace
}  // namespace gradwire::scenarios
