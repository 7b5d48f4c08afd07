#include "trainers/updates/update.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "scenarios/fields/fields.h"
#include "tests/trainers/updates/support.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

using Catch::Contains;

std::string text_of(const Update& update) {
  std::ostringstream out;
  update.save(out);
  return out.str();
}

std::string refusal_of(Update& update, const std::string& saved) {
  std::istringstream in(saved);
  try {
    update.load(in);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("an optimiser is known by its name, or refused") {
  // What scenarios offer is what there is.
  std::vector<std::string> names;
  for (const scenarios::Field& field : scenarios::scenario_table().fields())
    if (field.pointer == "/workload/optimizer/name") names = field.spec.choices;
  CHECK(names == std::vector<std::string>{"sgd", "adam", "amsgrad", "adamax", "lars", "lamb",
                                          "adagrad-cmd", "adagrad-rda", "quasi-global",
                                          "shift-adamax"});
  for (const std::string& name : names) {
    CHECK(make_update_rule({name})->name() == name);
    CHECK_FALSE(find_update(name)->source.empty());
  }
  CHECK_THROWS_WITH(make_update_rule({"rmsprop"}), Contains("choose one of sgd, adam, amsgrad"));
  CHECK_THROWS_WITH(make_update_rule({"sgd", {{"momentun", "0.9"}}}), Contains("momentum"));
}

TEST_CASE("two rules on parts of a model do what each does on all of it") {
  // 6 elements, 2, 4 and 3: the matrices take adam, the vectors sgd with momentum.
  const Layout layout = layout_of({{2, 3}, {2}, {2, 2}, {3}});
  const auto matrices = ranges_by_dimensions(layout, 2, 9);
  const auto vectors = ranges_by_dimensions(layout, 0, 2);
  CHECK(matrices == std::vector<ElementRange>{{0, 6}, {8, 4}});
  CHECK(vectors == std::vector<ElementRange>{{6, 2}, {12, 3}});
  const UpdateSettings adam{"adam"}, sgd{"sgd", {{"momentum", "0.9"}}};
  Update first(make_update_rule(adam), layout, matrices);
  Update second(make_update_rule(sgd), layout, vectors);
  CHECK(first.buffers()[0].size() == 10);
  CHECK(second.buffers()[0].size() == 5);
  std::vector<float> w = some_values(15, 1);
  for (std::uint32_t step = 0; step < 5; ++step) {
    const std::vector<float> g = some_values(15, 100 + step);
    first.step(0.01, g, w);
    second.step(0.01, g, w);
  }
  const std::vector<float> by_adam = trained(adam, layout, 5), by_sgd = trained(sgd, layout, 5);
  for (std::size_t e = 0; e < w.size(); ++e) {
    INFO(e);
    const bool matrix = e < 6 || (e >= 8 && e < 12);
    CHECK(w[e] == (matrix ? by_adam : by_sgd)[e]);
    CHECK(w[e] != (matrix ? by_sgd : by_adam)[e]);  // negative control
  }
}

TEST_CASE("neighbours share a range, and elementwise rules may cut tensors") {
  const Layout layout = layout_of({{2, 3}, {2, 2}, {3}});
  CHECK(ranges_by_dimensions(layout, 2, 9) == std::vector<ElementRange>{{0, 10}});
  // Two shards of an uneven cut together are the whole.
  for (const char* name : {"sgd", "adam", "amsgrad", "adamax", "shift-adamax"}) {
    Update left(make_update_rule({name}), layout, {{0, 5}});
    Update right(make_update_rule({name}), layout, {{5, 8}});
    std::vector<float> w = some_values(13, 1);
    for (std::uint32_t step = 0; step < 3; ++step) {
      left.step(0.01, some_values(13, 100 + step), w);
      right.step(0.01, some_values(13, 100 + step), w);
    }
    CHECK(w == trained({name}, layout, 3));
  }
  // Rules with norms refuse a part of a tensor, and take whole ones in any cut.
  for (const char* name : {"lars", "lamb"}) {
    Update part(make_update_rule({name}), layout, {{0, 5}});
    std::vector<float> w = some_values(13, 1);
    CHECK_THROWS_WITH(part.step(0.01, w, w), Contains("only a part of this tensor"));
    Update left(make_update_rule({name}), layout, {{0, 6}});
    Update right(make_update_rule({name}), layout, {{6, 7}});
    left.step(0.01, some_values(13, 100), w);
    right.step(0.01, some_values(13, 100), w);
    CHECK(w == trained({name}, layout, 1));
  }
}

TEST_CASE("an update goes on from what was saved") {
  const Layout layout = layout_of({{2, 3}, {4}});
  for (const UpdateInfo& row : update_catalogue()) {
    INFO(row.name);
    UpdateSettings settings{row.name};
    if (row.name == "sgd") settings.options["momentum"] = "0.9";
    Update whole(settings, layout), first(settings, layout), second(settings, layout);
    std::vector<float> w = some_values(10, 1), resumed;
    const std::vector<float> g = some_values(10, 7), h = some_values(10, 8);
    first.step(0.01, g, w);
    first.mixed(0.01, some_values(10, 1), w);
    std::istringstream in(text_of(first));
    second.load(in);
    CHECK(second.steps() == 1);
    resumed = w;
    first.step(0.01, h, w);
    second.step(0.01, h, resumed);
    CHECK(resumed == w);
    // Negative control: a state that starts afresh ends elsewhere.
    std::vector<float> fresh = some_values(10, 1);
    whole.step(0.01, g, fresh);
    Update(settings, layout).step(0.01, h, fresh);
    CHECK(fresh != w);
  }
}

TEST_CASE("a state of another rule or model is refused") {
  const Layout layout = layout_of({{2, 3}}), larger = layout_of({{2, 4}});
  Update adam({"adam"}, layout), lamb({"lamb"}, layout), other({"adam"}, larger);
  CHECK_THAT(refusal_of(lamb, text_of(adam)), Contains("updated by adam, not by lamb"));
  CHECK_THAT(refusal_of(other, text_of(adam)), Contains("another model"));
  CHECK(refusal_of(adam, text_of(adam)) == "no error");
}

TEST_CASE("what a step reads and writes of each element") {
  // Floats of 4 bytes. sgd: g, w in, w out; velocity in and out: 2 more. adam: g, w, m, v in,
  // w, m, v out. amsgrad: h in and out beside that. lars: g and w once more, for the norms. lamb:
  // g, w, m, v in, m, v out, then w, m, v in and w out.
  const auto bytes = [](const UpdateSettings& settings) {
    return make_update_rule(settings)->bytes_per_element();
  };
  CHECK(bytes({"sgd"}) == 4 * 3);
  CHECK(bytes({"sgd", {{"momentum", "0.9"}}}) == 4 * 5);
  CHECK(bytes({"adam"}) == 4 * 7);
  CHECK(bytes({"adamax"}) == 4 * 7);
  CHECK(bytes({"amsgrad"}) == 4 * 9);
  CHECK(bytes({"lars"}) == 4 * (2 + 5));
  CHECK(bytes({"lamb"}) == 4 * (6 + 4));
}

TEST_CASE("devices have sgd and adam, with the options that their kernels know") {
  using Options = std::map<std::string, std::string>;
  const auto device = [](const char* name, Options options = {}) {
    return make_update_rule({name, std::move(options)})->on_device();
  };
  REQUIRE(device("sgd", {{"momentum", "0.9"}, {"weight_decay", "0.5"}}));
  const DeviceRule sgd = *device("sgd", {{"momentum", "0.9"}, {"weight_decay", "0.5"}});
  CHECK((sgd.kernel == DeviceRule::Kernel::kSgd && sgd.momentum == 0.9f && sgd.decay == 0.5f));
  CHECK(sgd.buffers() == 1);
  CHECK(device("sgd")->buffers() == 0);
  CHECK(device("adam")->buffers() == 2);
  CHECK_FALSE(device("sgd", {{"momentum", "0.9"}, {"nesterov", "true"}}));
  CHECK_FALSE(device("adam", {{"beta1", "0.8"}}));
  for (const char* name : {"amsgrad", "adamax", "lars", "lamb"}) CHECK_FALSE(device(name));
}

}  // namespace
}  // namespace gradwire::trainers
