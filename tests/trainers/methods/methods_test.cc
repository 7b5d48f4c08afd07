#include <algorithm>
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

TEST_CASE("qsgd leaves small tensors as fp32 where asked", "[methods]") {
  CHECK(made("qsgd", {})->plan(0, 0).up.rules.empty());
  const SetPlan plan = made("qsgd", {{"whole_below", "10000"}, {"bits", "2"}})->plan(0, 0);
  CHECK(plan.up.codec.options.at("bits") == "2");
  REQUIRE(plan.up.rules.size() == 1);
  CHECK(plan.up.rules[0].tensors.elements_below == 10000);
  CHECK(plan.up.rules[0].codec.name == "none");
}

TEST_CASE("natural compression and fastsgd say how a server answers", "[methods]") {
  for (const char* name : {"natural", "dither"}) {
    CHECK_FALSE(made(name, {})->plan(0, 0).down);
    const SetPlan both = made(name, {{"down", "same"}})->plan(0, 0);
    REQUIRE(both.down);
    CHECK(both.down->codec.name == name);
    CHECK_FALSE(both.down->error_feedback);
  }
  CHECK(made("fastsgd", {})->plan(0, 0).down->codec.name == "fastsgd_r");
  CHECK_FALSE(made("fastsgd", {})->plan(0, 0).up.error_feedback);
}

TEST_CASE("cgx quantises large matrices alone, with the bits that were decided", "[methods]") {
  const std::int64_t large[] = {64, 16}, small[] = {8, 4};
  const TensorInfo tensors[] = {{"a.weight", large}, {"a.bias", kVectorShape}, {"b.weight", small}};
  const auto cgx = made("cgx", {{"adapt_every", "5"}});
  CHECK(cgx->sets() == 2);
  CHECK(cgx->set_of(tensors[0]) == 0);  // 1,024 elements
  CHECK(cgx->set_of(tensors[1]) == 1);
  CHECK(cgx->set_of(tensors[2]) == 1);
  CHECK(cgx->plan(1, 0).up.codec.name == "none");
  CHECK(cgx->plan(0, 0).up.codec.options.at("bits") == "4");
  CHECK(cgx->decides_every() == 5);
  // Of gradients that one layer alone has, that layer's are chosen; 0 for others.
  std::vector<float> values(1024, 0.25f);
  for (std::size_t e = 0; e < values.size(); ++e) values[e] = static_cast<float>(e % 97) / 97;
  const std::vector<float> few(32, 1.0f);
  const std::span<const float> sums[] = {values, std::span(few).first(8), few};
  const std::vector<int> bits = cgx->decide(tensors, sums);
  CHECK(bits == std::vector<int>{4, 0, 0});
  const SetPlan plan = cgx->decided_plan(0, 0, tensors, std::vector<int>{6, 0, 0});
  REQUIRE(plan.up.rules.size() == 1);
  CHECK(plan.up.rules[0].tensors.names == "a.weight");
  CHECK(plan.up.rules[0].codec.options.at("bits") == "6");
  CHECK(made("cgx", {{"whole_below", "0"}})->sets() == 1);
}

TEST_CASE("methods with the update at the server name their update rule", "[methods]") {
  for (const auto& [name, rule] :
       {std::pair("comp-ams", "amsgrad"), std::pair("qcmd", "adagrad-cmd"),
        std::pair("qrda", "adagrad-rda")}) {
    CHECK(find_method(name)->optimizer == rule);
    CHECK(made(name, {})->plan(0, 0).weights_down);
  }
  CHECK(made("comp-ams", {{"compressor", "block-sign"}})->plan(0, 0).up.codec.name == "sign");
  CHECK(made("qrda", {{"quantiser", "none"}})->plan(0, 0).up.codec.name == "none");
}

TEST_CASE("batch augmentation shifts images with wrap-around and blanks a square", "[methods]") {
  // 40 images of 2 channels, 9 x 8 pixels, each with its number at its place.
  const auto images = [](std::vector<float>& values) {
    values.resize(40 * 2 * 72);
    for (std::size_t e = 0; e < values.size(); ++e) values[e] = static_cast<float>(e % 72 + 1);
    return ImageBatch{40, 2, 9, 8, values};
  };
  const RandomStream draws{7, 3, 2, 1};
  std::vector<float> shifted, cut, again;
  made("batch-augmentation", {{"cutout", "0"}, {"shift", "2"}})->augment(images(shifted), draws);
  std::set<std::pair<int, int>> shifts;
  for (std::size_t plane = 0; plane < 80; ++plane) {
    const float* const own = shifted.data() + 72 * plane;
    const int first = static_cast<int>(std::find(own, own + 72, 1.0f) - own);
    const int down = first / 8, right = first % 8;
    for (int row = 0; row < 9; ++row)
      for (int column = 0; column < 8; ++column)
        REQUIRE(own[(row + down) % 9 * 8 + (column + right) % 8] ==
                static_cast<float>(row * 8 + column + 1));
    // Within 2 each way, and both channels alike.
    CHECK((down <= 2 || down >= 7));
    CHECK((right <= 2 || right >= 6));
    CHECK(std::equal(own, own + 72, shifted.data() + 72 * (plane / 2 * 2)));
    shifts.emplace(down, right);
  }
  CHECK(shifts.size() > 10);  // of 25
  // A square of 3 about a pixel anywhere: 9 pixels, 4 in a corner.
  made("batch-augmentation", {{"cutout", "3"}, {"shift", "0"}})->augment(images(cut), draws);
  for (std::size_t plane = 0; plane < 80; ++plane) {
    const auto zeros = std::count(cut.begin() + 72 * static_cast<std::ptrdiff_t>(plane),
                                  cut.begin() + 72 * static_cast<std::ptrdiff_t>(plane + 1), 0.0f);
    CHECK((zeros == 9 || zeros == 6 || zeros == 4));
  }
  made("batch-augmentation", {{"cutout", "3"}, {"shift", "0"}})->augment(images(again), draws);
  CHECK(again == cut);
  CHECK_FALSE(made("batch-augmentation", {{"cutout", "0"}, {"shift", "0"}})->augments());
  // Copies of one sample differ, unless they are drawn alike.
  for (const char* same : {"false", "true"}) {
    std::vector<float> one, other;
    const auto method = made("batch-augmentation", {{"copies", "4"}, {"same_draws", same}});
    method->augment(images(one), {7, 3, 4, 1});
    method->augment(images(other), {7, 3, 5, 1});
    CHECK((one == other) == (std::string(same) == "true"));
  }
}
