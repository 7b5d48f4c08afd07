#include <catch2/catch.hpp>

#include "tests/scenarios/support.h"

using namespace gradwire;
using namespace gradwire::scenarios;

namespace {

const std::string kServer =
    R"(, "cluster": {"workers": 8}, "exchange": {"collective": "parameter-server"})";

std::string with_schedule(const std::string& schedule, const std::string& more = kServer) {
  return scenario_with(more + R"(, "schedule": )" + schedule);
}

std::string problems(const std::string& schedule, const std::string& more = kServer) {
  return problems_of(with_schedule(schedule, more));
}

bool refuses(const std::string& schedule, const std::string& at,
             const std::string& more = kServer) {
  const std::string text = problems(schedule, more);
  INFO(text);
  return text.find(at + ": ") != std::string::npos;
}

}  // namespace

TEST_CASE("without a schedule a scenario hashes as it always did", "[schedule]") {
  const auto hash = [](const std::string& text) {
    return read_scenario_text(text, "t.json").runs[0].hash;
  };
  const std::string plain = hash(scenario_with(kServer));
  CHECK(hash(with_schedule("{}")) == plain);
  CHECK(hash(with_schedule(R"({"kind": "lockstep", "local_steps": 1})")) == plain);
  // Negative control: what says something changes it.
  CHECK(hash(with_schedule(R"({"local_steps": 2})")) != plain);
  CHECK(hash(with_schedule(R"({"kind": "rounds"})")) != plain);
  CHECK(hash(with_schedule(R"({"kind": "rounds"})")) ==
        hash(with_schedule(R"({"kind": "rounds", "server_rate": 1, "late": "dropped"})")));
}

TEST_CASE("rounds are read with their defaults", "[schedule]") {
  const Scenario scenario =
      read_scenario_text(with_schedule(R"({"kind": "rounds", "sample": 3, "deadline": "20s",
          "local_epochs": 2, "drop_out": 0.1, "late": "kept", "server_momentum": 0.9})"),
                         "t.json")
          .runs[0];
  const ScheduleChoice& schedule = scenario.schedule;
  CHECK(schedule.kind == "rounds");
  CHECK(schedule.sample == 3);
  CHECK(schedule.deadline == Seconds(20));
  CHECK(schedule.local_epochs == 2.0);
  CHECK(schedule.local_steps == 1);
  CHECK(schedule.drop_out == 0.1);
  CHECK(schedule.late == "kept");
  CHECK(schedule.weighting == "samples");
  CHECK(schedule.server_rate == 1);
  CHECK(schedule.server_momentum == 0.9);
}

TEST_CASE("fields of one schedule are refused with another, by name", "[schedule]") {
  CHECK(refuses(R"({"sample": 2})", "/schedule/sample"));
  CHECK(refuses(R"({"kind": "lockstep", "deadline": "1s"})", "/schedule/deadline"));
  CHECK(problems(R"({"kind": "rounds", "sample": 2, "local_steps": 4})").empty());
}

TEST_CASE("schedules that make no sense are refused", "[schedule]") {
  const auto rounds = [](const std::string& more) { return R"({"kind": "rounds")" + more + "}"; };
  CHECK(problems(rounds("")).empty());
  CHECK(refuses(rounds(R"(, "sample": 9)"), "/schedule/sample"));
  CHECK(refuses(rounds(R"(, "drop_out": 0.5)"), "/schedule/drop_out"));
  CHECK(refuses(rounds(R"(, "late": "kept")"), "/schedule/late"));
  CHECK(refuses(rounds(R"(, "local_steps": 2, "local_epochs": 2)"), "/schedule/local_epochs"));
  CHECK(refuses(rounds(R"(, "local_epochs": 0)"), "/schedule/local_epochs"));
  CHECK(refuses(rounds(""), "/exchange/collective", ""));
  CHECK(refuses(rounds(""), "/exchange/shards",
                R"(, "exchange": {"collective": "parameter-server", "shards": 2})"));
  CHECK(refuses(rounds(""), "/network/transport/protocol",
                kServer + R"(, "network": {"transport": {"protocol": "udp-lossy"}})"));
  CHECK(problems(rounds(""), kServer + R"(, "executor": "emulator")").empty());
  CHECK(refuses(rounds(R"(, "deadline": "1s")"), "/schedule/deadline",
                kServer + R"(, "executor": "model")"));
  CHECK(refuses(rounds(""), "/method/name",
                kServer + R"(, "method": {"name": "dgc", "ratio": 0.01})"));
  CHECK(problems(rounds(""), kServer + R"(, "method": {"name": "topk", "ratio": 0.01})").empty());
}

TEST_CASE("local steps are of sgd", "[schedule]") {
  const std::string adam = R"("workload": {"optimizer": {"name": "adam"}})";
  const auto problems_with = [](const std::string& workload, const char* steps) {
    return problems_of(
        scenario_with(std::string(R"(, "schedule": {"local_steps": )") + steps + "}", workload));
  };
  CHECK(problems_with(adam, "4").find("/schedule/local_steps: ") != std::string::npos);
  CHECK(problems_with(adam, "1").empty());
  CHECK(problems_with(R"("workload": {})", "4").empty());
}

TEST_CASE("gossip is read, and refused where there is no graph to mix by", "[schedule]") {
  const std::string neighbours = R"(, "exchange": {"collective": "gossip"})";
  const auto gossip = [](const std::string& more) { return R"({"kind": "gossip")" + more + "}"; };
  const auto refuses_gossip = [&](const std::string& more, const std::string& at) {
    return refuses(gossip(more), at, neighbours);
  };
  CHECK(problems(gossip(""), neighbours).empty());
  for (const char* graph : {"ring", "directed-ring", "torus", "exponential", "complete"})
    CHECK(problems(gossip(R"(, "graph": ")" + std::string(graph) + "\""), neighbours).empty());
  const std::string listed = R"(, "graph": "explicit", "edges": )";
  CHECK(problems(gossip(listed + R"([{"a": 0, "b": 1}, {"a": 1, "b": 2}, {"a": 2, "b": 3}])"),
                 neighbours)
            .empty());
  CHECK(refuses_gossip(listed + R"([{"a": 0, "b": 1}, {"a": 2, "b": 3}])", "/schedule/edges"));
  CHECK(
      refuses_gossip(listed + R"([{"a": 0, "b": 1, "weight": 0.9}, {"a": 1, "b": 2, "weight": 0.9},
      {"a": 2, "b": 3, "weight": 0.1}])",
                     "/schedule/edges"));
  CHECK(refuses_gossip(R"(, "graph": "random-regular", "degree": 7)", "/schedule/graph"));
  CHECK(refuses_gossip(R"(, "degree": 3)", "/schedule/degree"));
  CHECK(refuses_gossip(R"(, "sample": 3)", "/schedule/sample"));
  CHECK(refuses_gossip(R"(, "final_mixing": 100000)", "/schedule/final_mixing"));
  CHECK(refuses(R"({"kind": "rounds", "graph": "ring"})", "/schedule/graph"));
  CHECK(problems(gossip(R"(, "patience": "0s")"), neighbours).empty());
  CHECK(problems(gossip(R"(, "patience": "20ms")"), neighbours).empty());
  CHECK(refuses_gossip(R"(, "patience": "-1s")", "/schedule/patience"));
  CHECK(refuses_gossip(R"(, "patience": "0s", "final_mixing": 3)", "/schedule/final_mixing"));
  CHECK(refuses(R"({"kind": "lockstep", "patience": "1s"})", "/schedule/patience"));
}

TEST_CASE("a pipeline's stages each have a part of the model", "[schedule]") {
  // mlp with two hidden layers has three parts.
  const auto text_of = [](int workers, const std::string& more) {
    return problems(R"({"kind": "pipeline")" + more + "}",
                    R"(, "cluster": {"workers": )" + std::to_string(workers) + "}");
  };
  const auto says = [&](int workers, const std::string& more, const std::string& what) {
    const std::string text = text_of(workers, more);
    INFO(text);
    return text.find(what) != std::string::npos;
  };
  CHECK(text_of(3, "").empty());
  CHECK(text_of(4, R"(, "stages": 2, "cut": [1, 2], "order": "1f1b")").empty());
  CHECK(says(4, "", "/cluster/workers: mlp has 3 parts, so that one of 4 stages would have no"));
  CHECK(says(4, R"(, "stages": 4)", "/schedule/stages: mlp has 3 parts"));
  CHECK(says(4, R"(, "stages": 3)", "/schedule/stages: 4 workers are no whole replicas of 3"));
  CHECK(says(4, R"(, "stages": 2, "cut": [3, 0])", "/schedule/cut: stage 1 would have no layer"));
  CHECK(says(4, R"(, "stages": 2, "cut": [1, 1])",
             "/schedule/cut: the stages have 2 parts, and mlp has 3"));
  CHECK(says(4, R"(, "stages": 2, "cut": [3])", "/schedule/cut: it says parts of 1"));
  CHECK(says(3, R"(, "sample": 3)", "/schedule/sample: "));
  CHECK(refuses(R"({"kind": "gossip", "stages": 2})", "/schedule/stages",
                R"(, "exchange": {"collective": "gossip"})"));
  const std::string two = R"({"kind": "pipeline", "stages": 2})";
  const Scenario scenario =
      read_scenario_text(with_schedule(two, R"(, "cluster": {"workers": 4})"), "t.json").runs[0];
  const PipelineCut cut = pipeline_cut(scenario, 3);
  CHECK(cut.parts == std::vector<int>{1, 2});
  CHECK(cut.replicas == 2);
}

TEST_CASE("a pipeline's stages keep all of their activations", "[schedule]") {
  const std::string text =
      problems_of(scenario_with(R"(, "cluster": {"workers": 3}, "schedule": {"kind": "pipeline"})",
                                R"("workload": {"checkpoint_activations": 2})"));
  CHECK(text.find("/workload/checkpoint_activations: a stage keeps") != std::string::npos);
}

TEST_CASE("asynchronous schedules are read, and refused where they make no sense", "[schedule]") {
  const auto asynchronous = [](const std::string& more) {
    return R"({"kind": "asynchronous")" + more + "}";
  };
  const auto read = [](const std::string& text) {
    return read_scenario_text(with_schedule(text), "t.json").runs[0].schedule;
  };
  const ScheduleChoice usual = read(asynchronous(""));
  CHECK(usual.staleness == "none");
  CHECK_FALSE(usual.most_stale.has_value());
  const ScheduleChoice given =
      read(asynchronous(R"(, "staleness": "power", "staleness_power": 2, "most_stale": 0)"));
  CHECK(given.staleness_power == 2);
  CHECK(given.most_stale == 0);
  CHECK(refuses(asynchronous(R"(, "local_steps": 2)"), "/schedule/local_steps"));
  CHECK(refuses(asynchronous(R"(, "staleness_power": 2)"), "/schedule/staleness_power"));
  CHECK(refuses(asynchronous(R"(, "most_stale": -1)"), "/schedule/most_stale"));
  CHECK(refuses(R"({"kind": "rounds", "most_stale": 1})", "/schedule/most_stale"));
  CHECK(refuses(asynchronous(""), "/exchange/collective", ""));
  CHECK(refuses(asynchronous(""), "/network/transport/protocol",
                kServer + R"(, "network": {"transport": {"protocol": "udp-lossy"}})"));
  CHECK(refuses(asynchronous(""), "/executor", kServer + R"(, "executor": "model")"));
  CHECK(problems(asynchronous(""), kServer + R"(, "executor": "emulator")").empty());
  CHECK(refuses(asynchronous(""), "/method/name",
                kServer + R"(, "method": {"name": "dgc", "ratio": 0.01})"));
  CHECK(problems(asynchronous(""), kServer + R"(, "method": {"name": "dgc", "ratio": 0.01,
      "warmup_epochs": 0})")
            .empty());
}
