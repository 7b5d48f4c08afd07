#include <algorithm>
#include <catch2/catch.hpp>
#include <ctime>
#include <map>

#include "scenarios/methods.h"
#include "tests/scenarios/support.h"

using namespace gradwire;
using namespace gradwire::scenarios;

namespace {

using Overrides = std::vector<std::pair<std::string, std::string>>;

Scenario one(const std::string& parts = "", const Overrides& overrides = {}) {
  return read_scenario_text(scenario_with(parts), "t.json", overrides).runs.at(0);
}

std::map<std::string, std::string> origins(const Scenario& scenario) {
  std::map<std::string, std::string> all;
  for (const ResolvedValue& row : resolved_values(scenario))
    all[row.pointer] = row.value + " " + row.origin;
  return all;
}

/// A star of so many listed links, each of which sends 1 kB to the server.
std::string star_of(int links) {
  std::string hosts, transfers, listed;
  for (int i = 0; i < links; ++i) {
    const std::string name = "\"h" + std::to_string(i) + "\"";
    hosts += name + ", ";
    transfers += (i > 0 ? ", " : "") + (R"({"from": )" + name) + R"(, "to": "s", "bytes": "1kB"})";
    listed += R"({"a": )" + name + R"(, "b": "x", "bandwidth": "9Mbps", "delay": "3ms"}, )";
  }
  return R"({"schema_version": 1, "name": "star", "workload": {"transfers": [)" + transfers +
         R"(]}, "network": {"topology": "explicit", "hosts": [)" + hosts +
         R"("s"], "switches": ["x"], "links": [)" + listed +
         R"({"a": "s", "b": "x", "bandwidth": "1Gbps", "delay": "1ms"}]}})";
}

}  // namespace

TEST_CASE("defaults are those of the typed members", "[unit]") {
  const Scenario read = one();
  const Scenario made;
  CHECK(read.workload.model == made.workload.model);
  CHECK(read.workload.batch_per_worker == made.workload.batch_per_worker);
  CHECK(read.workload.steps == made.workload.steps);
  CHECK(read.workload.learning_rate == made.workload.learning_rate);
  CHECK(read.workload.evaluate_every == made.workload.evaluate_every);
  CHECK(read.cluster.workers == made.cluster.workers);
  CHECK(read.cluster.slowdown == std::vector<double>(4, 1.0));
  CHECK(read.network.link.rate == made.network.link.rate);
  CHECK(read.network.link.delay.value() == Approx(made.network.link.delay.value()).epsilon(1e-12));
  CHECK(read.network.transport.segment == made.network.transport.segment);
  CHECK(read.network.transport.wire_segment == made.network.transport.wire_segment);
  CHECK(read.network.transport.delayed_ack == made.network.transport.delayed_ack);
  CHECK(read.network.transport.min_rto == made.network.transport.min_rto);
  CHECK(read.network.transport.initial_rto == made.network.transport.initial_rto);
  CHECK(read.network.transport.buffer == made.network.transport.buffer);
  CHECK(read.network.transport.initial_window == made.network.transport.initial_window);
  CHECK(read.exchange.bucket == made.exchange.bucket);
  CHECK(read.exchange.overlap == made.exchange.overlap);
  CHECK(read.executor == made.executor);
  CHECK(read.seed == 1);
}

TEST_CASE("values reach the typed members", "[unit]") {
  const Scenario read = one(R"(, "method": {"name": "topk", "ratio": 0.05, "error_feedback": false},
    "cluster": {"workers": 3, "stragglers": [{"worker": 2, "factor": 2.5}]},
    "network": {"link": {"bandwidth": "100Mbps", "delay": "2ms", "loss": 0.01, "queue": "1MiB"},
                "transport": {"congestion_control": "bbr", "initial_window": 20}},
    "exchange": {"collective": "parameter-server", "bucket": "1MB", "overlap": false},
    "executor": "packet", "seeds": [9])");
  CHECK(read.method.name == "topk");
  CHECK(read.method.options.at("ratio") == "0.05");
  CHECK_FALSE(read.method.error_feedback);
  CHECK(read.cluster.slowdown == std::vector<double>{1, 1, 2.5});
  CHECK(read.network.link.rate.value() == 1e8);
  CHECK(read.network.link.delay == parse_duration("2ms"));
  CHECK(read.network.link.queue.count() == 1048576);
  CHECK(read.network.transport.congestion_control ==
        sim::TransportSettings::CongestionControl::kBbr);
  CHECK(read.network.transport.initial_window == 20);
  CHECK(read.exchange.collective == "parameter-server");
  CHECK(read.exchange.bucket.count() == 1'000'000);
  CHECK_FALSE(read.exchange.overlap);
  CHECK(read.seed == 9);
}

TEST_CASE("the resolved scenario is itself a scenario, with the same meaning", "[unit]") {
  for (const std::string& parts :
       {std::string(),
        std::string(R"(, "method": {"name": "topk"}, "network": {"link": {"delay": "0.05ms"}})"),
        std::string(R"(, "network": {"topology": "explicit", "hosts": ["a", "b"],
                       "links": [{"a": "a", "b": "b"}]})")}) {
    const Scenario first = one(parts);
    const Scenario second = read_scenario_text(first.json.dump(), "t.json").runs.at(0);
    CHECK(second.json == first.json);
    CHECK(second.hash == first.hash);
  }
}

TEST_CASE("the hash follows the meaning, not the words", "[unit]") {
  const std::string hash = one().hash;
  CHECK(one(R"(, "seeds": [2], "description": "d", "expected": {"runs": 1})").hash == hash);
  CHECK(
      one(R"(, "cluster": {"workers": 4}, "network": {"link": {"bandwidth": "1000Mbps"}})").hash ==
      hash);
  CHECK(read_scenario_text(
            R"({"network": {}, "name": "other", "workload": {"steps": 200}, "schema_version": 1})",
            "elsewhere.json")
            .runs.at(0)
            .hash == hash);
  CHECK(one(R"(, "cluster": {"workers": 5})").hash != hash);
  CHECK(one(R"(, "network": {"link": {"bandwidth": "999Mbps"}})").hash != hash);
  CHECK(one(R"(, "method": {"name": "fp16"})").hash != hash);
}

TEST_CASE("the hash of a given scenario never changes", "[golden]") {
  // A change here orphans every stored run: change it only with the format's meaning.
  CHECK(one().hash == "e1d3bf0e70165b9f");
  CHECK(
      one(R"(, "method": {"name": "topk", "ratio": 0.05}, "network": {"link": {"delay": "30ms"}})")
          .hash == "5d305ac05db46702");
}

TEST_CASE("--set wins over the file, and is read as JSON where it can be", "[unit]") {
  const Scenario set = one(R"(, "cluster": {"workers": 3})", {{"/cluster/workers", "8"},
                                                              {"/network/link/bandwidth", "10Mbps"},
                                                              {"/exchange/overlap", "false"},
                                                              {"/description", "12"},
                                                              {"/method", R"({"name": "topk"})"},
                                                              {"/seeds", "[4]"}});
  CHECK(set.cluster.workers == 8);
  CHECK(set.network.link.rate.value() == 1e7);
  CHECK_FALSE(set.exchange.overlap);
  CHECK(set.description == "12");
  CHECK(set.method.error_feedback);
  CHECK(set.seed == 4);
}

TEST_CASE("--set replaces a sweep's axis, and wins below a swept object", "[unit]") {
  const std::string text =
      scenario_with(R"(, "sweep": {"/method/name": ["none", "fp16"], "/cluster/workers": [2, 4]})");
  const ScenarioFile fixed = read_scenario_text(text, "t.json", {{"/cluster/workers", "3"}});
  REQUIRE(fixed.runs.size() == 2);
  CHECK(fixed.swept == std::vector<std::string>{"/method/name"});
  CHECK(fixed.runs[1].cluster.workers == 3);
  CHECK(read_scenario_text(text, "t.json", {{"/sweep", "{}"}}).runs.size() == 1);
  const std::string objects =
      scenario_with(R"(, "sweep": {"/method": [{"name": "fp16"}, {"name": "topk"}]})");
  const ScenarioFile below =
      read_scenario_text(objects, "t.json", {{"/method/error_feedback", "false"}});
  REQUIRE(below.runs.size() == 2);
  CHECK_FALSE(below.runs[1].method.error_feedback);
}

TEST_CASE("mistakes in --set are told as such", "[unit]") {
  const auto problems = [](const Overrides& overrides) -> std::string {
    try {
      one("", overrides);
      return "";
    } catch (const ScenarioError& error) {
      return error.what();
    }
  };
  CHECK(problems({{"/cluster/worker", "8"}}) ==
        "--set: /cluster/worker: there is no such field; allowed: JSON pointers of fields; did you "
        "mean "
        "\"/cluster/workers\"?");
  CHECK(problems({{"/jitter", "0"}}).find("did you mean \"/network/link/jitter\"?") !=
        std::string::npos);
  CHECK(problems({{"/cluster/workers", "0"}}) ==
        "--set: /cluster/workers: 0 is out of range; allowed: integer >= 1 and <= 65536");
  CHECK(problems({{"/network/link/bandwidth", "10"}})
            .find("--set: /network/link/bandwidth: a bare number") == 0);
  CHECK(problems({{"/network/links/3/loss", "0"}}) != "");
}

TEST_CASE("each value knows its origin", "[unit]") {
  const ScenarioFile file = read_scenario_text(
      scenario_with(R"(, "cluster": {"workers": 3}, "sweep": {"/network/link/loss": [0, 0.01]})"),
      "t.json", {{"/workload/steps", "5"}});
  const auto rows = origins(file.runs.at(1));
  CHECK(rows.at("/cluster/workers") == "3 scenario");
  CHECK(rows.at("/network/link/loss") == "0.01 sweep");
  CHECK(rows.at("/workload/steps") == "5 --set");
  CHECK(rows.at("/network/link/bandwidth") == "1Gbps default");
  CHECK(rows.at("/method/error_feedback") == "false default");
  CHECK(rows.at("/seeds/0") == "1 default");
  for (const ResolvedValue& row : resolved_values(file.runs[1]))
    if (row.pointer == "/workload/batch_per_worker") CHECK(row.unit == "samples");
}

TEST_CASE("what replaces an object forgets the origins below it, and no others", "[unit]") {
  const Overrides other = {{"/network/links/1", R"({"a": "h1", "b": "x", "bandwidth": "5Mbps"})"}};
  const auto kept = read_scenario_text(star_of(11), "t.json").runs.at(0).origins;
  const auto replaced = read_scenario_text(star_of(11), "t.json", other).runs.at(0).origins;
  CHECK(replaced.at("/network/links/1/bandwidth") == "--set");
  CHECK(replaced.at("/network/links/10/bandwidth") == "scenario");
  CHECK(replaced.at("/network/links/0/delay") == "scenario");
  CHECK_FALSE(replaced.contains("/network/links/1/delay"));
  CHECK(kept.contains("/network/links/1/delay"));  // negative control
}

TEST_CASE("reading a scenario takes time in proportion to its length", "[unit]") {
  const auto seconds = [](int links) {  // of the processor
    const std::string text = star_of(links);
    const std::clock_t start = std::clock();
    REQUIRE(read_scenario_text(text, "t.json").runs.size() == 1);
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  // 8 times as many links take 8 times as long, and some more for sorting; or, in proportion to
  // the square, 64 times.
  CHECK(std::min(seconds(2000), seconds(2000)) < 20 * std::min(seconds(250), seconds(250)));
}

TEST_CASE("methods have short labels and make their codec", "[unit]") {
  const auto label = [](const std::string& method) {
    return method_label(one(", \"method\": " + method));
  };
  CHECK(label("{}") == "none");
  CHECK(label(R"({"name": "topk"})") == "topk 1% +ef");
  CHECK(label(R"({"name": "topk", "ratio": 0.0025, "error_feedback": false})") == "topk 0.25%");
  CHECK(label(R"({"name": "terngrad"})") == "terngrad");
  CHECK(label(R"({"name": "terngrad", "clip": 2.50})") == "terngrad");
  CHECK(label(R"({"name": "terngrad", "clip": 0, "error_feedback": true})") ==
        "terngrad clip=0 +ef");
  const auto compressed = [&](const std::string& rest) {
    return label(R"({"name": "compressed", "codec": {"name": "topk", "ratio": 0.001})" + rest +
                 "}");
  };
  CHECK(compressed("") == "topk 0.1% +ef");
  CHECK(compressed(R"(, "error_feedback": false, "clip": {"threshold": 2})") ==
        "topk 0.1% +clip norm 2");
  CHECK(compressed(R"(, "rules": [{"codec": {"name": "none"}}])") == "topk 0.1% +ef +rules");
  const Method topk = one(R"(, "method": {"name": "topk", "ratio": 0.1})").method;
  CHECK(make_method_codec(topk)->state_size(10) >= 40);  // the residual: 4 bytes an element
  CHECK(make_method_codec(one().method)->state_size(10) == 0);
}

TEST_CASE("both forms of a method make one plan", "[unit]") {
  using compressors::ClipBy;
  const Method method = one(R"(, "method": {"name": "compressed",
      "codec": {"name": "terngrad", "clip": 0}, "error_feedback": true,
      "clip": {"by": "sigma", "threshold": 3},
      "rules": [{"tensors": "*.bias", "codec": {"name": "fp16"}},
                {"elements_below": 1024, "dimensions_from": 2, "codec": {"name": "topk", "ratio": 1}}]})")
                            .method;
  const compressors::CodecPlan plan = codec_plan(method);
  CHECK(plan.codec.name == "terngrad");
  CHECK(plan.codec.options.at("clip") == "0");
  CHECK(plan.error_feedback);
  REQUIRE(plan.clipping);
  CHECK(plan.clipping->by == ClipBy::kSigma);
  CHECK(plan.clipping->threshold == 3);
  REQUIRE(plan.rules.size() == 2);
  CHECK(plan.rules[0].tensors.names == "*.bias");
  CHECK(plan.rules[0].codec.name == "fp16");
  CHECK(plan.rules[1].tensors.elements_below == 1024);
  CHECK(plan.rules[1].tensors.dimensions_from == 2);
  CHECK(plan.rules[1].tensors.names == "*");
  CHECK(plan.rules[1].codec.options.at("ratio") == "1");
  CHECK(make_method_codec(method)->name() == "terngrad+ef+clip+rules");
  const compressors::CodecPlan shorter =
      codec_plan(one(R"(, "method": {"name": "topk", "ratio": 0.1})").method);
  CHECK(shorter.codec.options.at("ratio") == "0.1");
  CHECK(shorter.error_feedback);
  CHECK_FALSE(shorter.decorated());
}

TEST_CASE("momentum correction's own clip: threshold / sqrt(workers), off by default") {
  const auto scenario_of = [](const std::string& correction) {
    return one(R"(, "method": {"name": "compressed", "codec": {"name": "none"},
        "momentum_correction": )" +
               correction + R"(}, "cluster": {"workers": 4})");
  };
  CHECK(codec_plan(scenario_of(R"({"momentum": 0})")).momentum_correction->clip == 0);
  const Scenario clipped = scenario_of(R"({"momentum": 0, "clip": 5})");
  const compressors::CodecPlan plan = codec_plan(clipped);
  CHECK(plan.momentum_correction->clip == 5);
  CHECK(plan.momentum_correction->workers == 4);
  CHECK(method_label(clipped) == "none +mc 0 clip 5");
  // ||(3, -4)|| = 5, to be 5 / sqrt(4) = 2.5: halved. Without momentum fp32 sends it as it is.
  const compressors::CodecPtr codec = compressors::make_codec(plan);
  const std::vector<float> values = {3, -4};
  const std::vector<std::int64_t> shape = {2};
  std::vector<std::byte> payload(codec->max_encoded_size(2));
  std::vector<std::uint64_t> scratch(codec->scratch_size(2) / 8 + 1);
  std::vector<std::uint64_t> state(codec->state_size(2) / 8 + 1);
  compressors::EncodeJob job{.tensor = {"t", shape, values},
                             .state = std::as_writable_bytes(std::span(state)),
                             .payload = payload};
  codec->encode(job, std::as_writable_bytes(std::span(scratch)));
  std::vector<float> sent(2);
  codec->decode({.payload = payload, .values = sent}, std::as_writable_bytes(std::span(scratch)));
  CHECK(sent == std::vector<float>{1.5f, -2});
}

TEST_CASE("a method that is combined otherwise than its codec alone says so") {
  const auto note_of = [](const std::string& decorators) {
    return policy_note(one(R"(, "method": {"name": "compressed", "codec": {"name": "terngrad"})" +
                           decorators + "}"));
  };
  CHECK(note_of("").empty());
  CHECK(note_of(R"(, "error_feedback": true, "clip": {"threshold": 1})").empty());
  CHECK(note_of(R"(, "rules": [{"dimensions_below": 2, "codec": {"name": "none"}}])").empty());
  CHECK(note_of(R"(, "rules": [{"dimensions_below": 2, "codec": {"name": "topk"}}])") ==
        "because of its rules messages are combined by gather, not by sum as those of terngrad "
        "alone");
}

TEST_CASE("fields of nested codecs can be set and swept", "[unit]") {
  const ScenarioFile file = read_scenario_text(
      scenario_with(R"(, "method": {"name": "compressed", "codec": {"name": "topk"}},
                        "sweep": {"/method/codec/ratio": {"log_range": [0.001, 0.1, 3]}})"),
      "t.json", {{"/method/clip/threshold", "0.5"}});
  REQUIRE(file.runs.size() == 3);
  CHECK(method_label(file.runs[0]) == "topk 0.1% +ef +clip norm 0.5");
  CHECK(method_label(file.runs[2]) == "topk 10% +ef +clip norm 0.5");
  const auto rows = origins(file.runs[1]);
  CHECK(rows.at("/method/codec/ratio") == "0.01 sweep");
  CHECK(rows.at("/method/clip/threshold") == "0.5 --set");
}

TEST_CASE("prices are checked, kept, and no part of what a run is", "[unit]") {
  const Scenario free = one(), priced = one(R"(, "prices": {"gpu_hour": 2.5})");
  CHECK(priced.hash == free.hash);
  CHECK_FALSE(free.json.contains("prices"));
  CHECK(priced.json.at("prices").at("gpu_hour") == 2.5);
  CHECK(priced.json.at("prices").at("ports_per_worker") == 1);
  CHECK(one("", {{"/prices/gigabyte", "0.01"}}).json.at("prices").at("gigabyte") == 0.01);
  CHECK_THROWS_WITH(one(R"(, "prices": {"gpu_hour": -1})"), Catch::Contains("/prices/gpu_hour"));
  CHECK_THROWS_WITH(one(R"(, "prices": {"gpu": 1})"), Catch::Contains("there is no such key"));
}
