#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/error.h"
#include "trainers/methods/catalogue.h"

/// Rows of the catalogue as data: what DGC and TernGrad plan, when.
using namespace gradwire;
using namespace gradwire::methods;

namespace {

std::unique_ptr<Method> made(const std::string& name,
                             const std::map<std::string, std::string>& options, int workers = 4) {
  const MethodRow* row = find_method(name);
  REQUIRE(row != nullptr);
  return row->make({.options = OptionValues(row->options, options), .workers = workers});
}

const std::int64_t kMatrixShape[] = {8, 4}, kVectorShape[] = {8};
const TensorInfo kMatrix{"fc1.weight", kMatrixShape}, kVector{"fc1.bias", kVectorShape};

}  // namespace

TEST_CASE("names of methods are unique and are known by them", "[methods]") {
  std::set<std::string> names;
  for (const MethodRow& row : method_catalogue()) {
    CHECK(names.insert(row.name).second);
    CHECK(find_method(row.name) == &row);
    CHECK_FALSE(row.paper.empty());
    CHECK_FALSE(row.page.empty());
    CHECK(row.make({.options = OptionValues(row.options, {})}) != nullptr);
  }
  CHECK(find_method("topk") == nullptr);  // a codec
}

TEST_CASE("dgc sends matrices sparse without momentum in the update, vectors dense with it",
          "[methods]") {
  const auto dgc = made("dgc", {{"warmup_epochs", "0"}, {"ratio", "0.01"}, {"momentum", "0.8"}});
  CHECK(dgc->sets() == 2);
  CHECK(dgc->phases() == 1);
  const SetPlan matrices = dgc->plan(dgc->set_of(kMatrix), 0);
  CHECK(matrices.up.codec.name == "dgc");
  CHECK(matrices.up.codec.options.at("ratio") == "0.01");
  REQUIRE(matrices.up.momentum_correction);
  CHECK(matrices.up.momentum_correction->momentum == 0.8);
  CHECK(matrices.up.momentum_correction->masking);
  CHECK_FALSE(matrices.update_momentum);
  // A layer whose tensors are not known is mostly weights.
  CHECK(dgc->set_of({"conv1", {}}) == dgc->set_of(kMatrix));
  const SetPlan vectors = dgc->plan(dgc->set_of(kVector), 0);
  CHECK(vectors.up.codec.name == "none");
  CHECK(vectors.update_momentum);
}

TEST_CASE("dgc's warm-up has four shares of one epoch each, then the ratio", "[methods]") {
  const auto dgc = made("dgc", {});
  REQUIRE(dgc->phases() == 5);
  // 4 epochs, 4 shares: epoch e is in phase floor(e), from 4 on in the last one.
  const std::pair<double, const char*> expected[] = {
      {0.0, "0.25"},  {0.99, "0.25"}, {1.0, "0.0625"}, {2.5, "0.015625"},
      {3.9, "0.004"}, {4.0, "0.001"}, {90, "0.001"}};
  for (const auto& [epoch, ratio] : expected) {
    const std::size_t phase = dgc->phase({.epoch = epoch});
    CHECK(dgc->plan(0, phase).up.codec.options.at("ratio") == ratio);
  }
}

TEST_CASE("dgc with a share of 1 is a dense step with momentum in the update", "[methods]") {
  const auto dgc = made("dgc", {{"ratio", "1"}, {"warmup_epochs", "0"}});
  const SetPlan plan = dgc->plan(0, 0);
  CHECK(plan.up.codec.name == "none");
  CHECK_FALSE(plan.up.error_feedback);
  CHECK(plan.update_momentum);
}

TEST_CASE("dgc without correction is error feedback, clipped by N^(-1/2)", "[methods]") {
  const auto dgc = made("dgc", {{"correction", "false"}, {"clip", "3"}, {"warmup_epochs", "0"}}, 9);
  const SetPlan plan = dgc->plan(0, 0);
  CHECK_FALSE(plan.up.momentum_correction);
  CHECK(plan.up.error_feedback);
  CHECK(plan.update_momentum);
  REQUIRE(plan.up.clipping);
  CHECK(plan.up.clipping->threshold == 1.0);  // 3 / sqrt(9)
}

TEST_CASE("a warm-up that is no list of shares is refused", "[methods]") {
  for (const char* text : {"0.25,", "a", "0", "1.5", "0.5;0.1", ""}) {
    INFO(text);
    CHECK_THROWS_AS(made("dgc", {{"warmup", text}}), Error);
  }
  CHECK_NOTHROW(made("dgc", {{"warmup", "nonsense"}, {"warmup_epochs", "0"}}));
}

TEST_CASE("terngrad leaves the last layer as it is where asked", "[methods]") {
  const TensorInfo last{"fc3.weight", kMatrixShape, true};
  const auto all = made("terngrad", {});
  CHECK(all->sets() == 1);
  CHECK(all->plan(all->set_of(last), 0).up.codec.name == "terngrad");
  const auto some = made("terngrad", {{"last_layer", "fp32"}, {"clip", "2"}});
  CHECK(some->plan(some->set_of(last), 0).up.codec.name == "none");
  const auto codec = some->plan(some->set_of(kMatrix), 0).up.codec;
  CHECK(codec.name == "terngrad");
  CHECK(codec.options.at("clip") == "2");
}
