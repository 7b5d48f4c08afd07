#include "runner/training/profile_cache.h"

#include <catch2/catch.hpp>
#include <set>

#include "runner/training/trainer_module.h"
#include "scenarios/document/pointer.h"
#include "scenarios/fields/fields.h"
#include "scenarios/share.h"

using namespace gradwire;
using namespace gradwire::runner;

namespace {

scenarios::Scenario resnet(const std::vector<std::pair<std::string, std::string>>& sets = {}) {
  return scenarios::read_scenario_text(
             R"({"schema_version": 1, "name": "p", "workload": {"profile": "resnet50",
                 "batch_per_worker": 32, "steps": 2}, "cluster": {"workers": 4, "device": "v100"},
                 "network": {"topology": "star"}, "executor": "flow", "seeds": [1]})",
             scenarios::share_folder() + "/p.json", sets)
      .runs.at(0);
}

std::string key_of(const scenarios::Scenario& scenario) {
  return profile_key(scenario, *make_trainer(scenario, {}));
}

/// Forward pass as the cache gives it to a run of the scenario.
double forward_of(ProfileCache& cache, const scenarios::Scenario& scenario) {
  const auto trainer = make_trainer(scenario, {});
  return cache.prepare(profile_key(scenario, *trainer), *trainer).forward.value();
}

}  // namespace

TEST_CASE("Runs of one sweep with other precisions have other times") {
  ProfileCache cache;
  const double fp32 = forward_of(cache, resnet());
  const double fp16 = forward_of(cache, resnet({{"/workload/precision", "fp16"}}));
  // Peaks of 15.7 x .7 and 125 x .5 TFLOP/s: memory-bound layers keep it from being 5.7 times.
  CHECK(fp32 > 1.5 * fp16);
  // The negative control: what decides nothing finds the first run's times.
  CHECK(forward_of(cache, resnet({{"/network/link/bandwidth", "10Gbps"}})) == fp32);
}

TEST_CASE("Each field that decides a profile is in its key") {
  const scenarios::Scenario plain = resnet();
  const std::string key = key_of(plain);
  const std::pair<const char*, const char*> decide[] = {
      {"/workload/precision", "fp16"}, {"/workload/batch_per_worker", "64"},
      {"/workload/profile", "vgg16"},  {"/method/name", "fp16"},
      {"/cluster/device", "a100"},     {"/cluster/workers", "8"},
      {"/exchange/bucket", "4MB"},     {"/exchange/collective", "tree"}};
  std::set<std::string> keys = {key};
  for (const auto& [pointer, value] : decide) {
    INFO(pointer);
    CHECK(keys.insert(key_of(resnet({{pointer, value}}))).second);
  }
  const std::pair<const char*, const char*> decide_nothing[] = {{"/name", "other"},
                                                                {"/workload/steps", "9"},
                                                                {"/network/link/loss", "0.01"},
                                                                {"/exchange/overlap", "false"},
                                                                {"/cluster/spread", "0.1"},
                                                                {"/executor", "model"}};
  for (const auto& [pointer, value] : decide_nothing) {
    INFO(pointer);
    CHECK(key_of(resnet({{pointer, value}})) == key);
  }
  CHECK(key_of(resnet({{"/exchange/collective", "parameter-server"}})) !=
        key_of(resnet({{"/exchange/collective", "parameter-server"}, {"/exchange/shards", "2"}})));
}

TEST_CASE("Optimisers have updates of their own") {
  // Keys alone: what trains needs a module. The trainer is asked for an open collective only.
  const auto trainer = make_trainer(resnet(), {});
  scenarios::Scenario sgd = resnet();
  sgd.json["workload"]["optimizer"] = {{"name", "sgd"}, {"lr", 0.05}, {"momentum", 0.0}};
  scenarios::Scenario other = sgd;
  other.json["workload"]["optimizer"]["lr"] = 0.1;  // takes as long
  other.json["workload"]["optimizer"]["schedule"] = {{"name", "cosine"}};
  CHECK(profile_key(sgd, *trainer) == profile_key(other, *trainer));
  for (const auto& [field, value] :
       {std::pair<const char*, nlohmann::ordered_json>("name", "adam"), {"momentum", 0.9}}) {
    other = sgd;
    other.json["workload"]["optimizer"][field] = value;
    CHECK(profile_key(sgd, *trainer) != profile_key(other, *trainer));
  }
}

TEST_CASE("A field counts unless it is said that it does not") {
  // Fields of the network, of when times pass, of what is reported; every other one counts, those
  // of codecs and of later versions among them.
  int counting = 0;
  for (const scenarios::Field& field : scenarios::scenario_table().fields()) {
    if (field.pointer.empty()) continue;
    INFO(field.pointer);
    scenarios::Scenario with = resnet(), without = with;
    std::string pointer = field.pointer;
    for (std::size_t at; (at = pointer.find('*')) != std::string::npos;)
      pointer.replace(at, 1, "x");
    // A list's items become keys of an object: the key reads no values.
    const std::string first = "/" + scenarios::pointer_tokens(pointer).front();
    if (pointer.find("/x") != std::string::npos || !with.json.contains(first.substr(1)))
      with.json[first.substr(1)] = without.json[first.substr(1)] = nlohmann::ordered_json::object();
    if (!scenarios::assign_at(with.json, pointer, "a value that none has")) continue;
    scenarios::assign_at(without.json, pointer, "another one");
    const auto trainer = make_trainer(resnet(), {});
    const bool counts = profile_key(with, *trainer) != profile_key(without, *trainer);
    CHECK(counts == decides_profile(pointer));
    counting += counts;
    const bool stated = first == "/network" || first == "/executor" || first == "/seeds" ||
                        first == "/name" || first == "/description" || first == "/$schema" ||
                        first == "/sweep" || first == "/prices" || first == "/expected";
    if (stated) CHECK_FALSE(counts);
    if (first == "/method") CHECK(counts);
  }
  CHECK(counting > 100);
}
