#include "scenarios/profiles/profile_json.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/temporary_file.h"
#include "tests/quantities.h"

using namespace gradwire;
using namespace gradwire::scenarios;

namespace {

/// What a loader makes of the text in a file.
template <typename Load>
auto read_back(const std::string& text, const Load& load) {
  const TemporaryFile file(text, ".json");
  return load(file.path(), "");
}

}  // namespace

TEST_CASE("a written layer table reads back as it was", "[unit]") {
  WorkloadProfile profile = load_workload_profile("lstm-ptb", "");
  profile.update = Seconds(0.25);
  WorkloadProfile::Layer& timed = profile.layers[1];
  timed.has_times = true;
  timed.forward_per_sample = Seconds(1.5e-3);
  timed.backward_per_sample = Seconds(2.5e-3);
  timed.spread = 0.125;
  const WorkloadProfile read = read_back(profile_text(profile), load_workload_profile);
  CHECK(read.origin.name == profile.origin.name);
  CHECK(read.origin.note == profile.origin.note);
  CHECK(read.update == profile.update);
  REQUIRE(read.layers.size() == profile.layers.size());
  for (std::size_t l = 0; l < read.layers.size(); ++l) {
    const auto &a = read.layers[l], &b = profile.layers[l];
    CHECK(a.name == b.name);
    CHECK(a.kind == b.kind);
    CHECK(a.elements == b.elements);
    CHECK(a.tensors.size() == b.tensors.size());
    CHECK(a.flops == b.flops);
    CHECK(a.inputs == b.inputs);
    CHECK(a.activations == b.activations);
    CHECK(a.has_times == b.has_times);
    CHECK(a.forward_per_sample == b.forward_per_sample);
    CHECK(a.backward_per_sample == b.backward_per_sample);
    CHECK(a.spread == b.spread);
  }
  CHECK(read.layers[1].tensors[0].shape == std::vector<std::int64_t>{6000, 1500});
}

TEST_CASE("a written device profile reads back as it was", "[unit]") {
  for (const char* name : {"v100", "reference-cpu"}) {
    const DeviceProfile profile = load_device_profile(name, "");
    const DeviceProfile read = read_back(profile_text(profile), load_device_profile);
    CHECK(read.origin.compute == profile.origin.compute);
    CHECK(read.origin.codecs == profile.origin.codecs);
    REQUIRE(read.peak);
    CHECK(read.peak->memory_bytes_per_second == profile.peak->memory_bytes_per_second);
    CHECK(read.peak->compute.at("fp32").efficiency == profile.peak->compute.at("fp32").efficiency);
    CHECK(read.error_feedback.per_element == profile.error_feedback.per_element);
    CHECK(read.codecs.size() == profile.codecs.size());
    for (const auto& [codec, costs] : profile.codecs) {
      CHECK(read.codecs.at(codec).encode.fixed == costs.encode.fixed);
      CHECK(read.codecs.at(codec).aggregate.per_element == costs.aggregate.per_element);
    }
    REQUIRE(read.models.size() == profile.models.size());
    for (const auto& [model, passes] : profile.models)
      CHECK(read.models.at(model).backward.time(32) == passes.backward.time(32));
  }
}
