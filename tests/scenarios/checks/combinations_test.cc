#include "scenarios/checks/combinations.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "scenarios/fields/docs.h"
#include "tests/scenarios/support.h"

using namespace gradwire;
using namespace gradwire::scenarios;

namespace {

struct Example {
  std::string one, other;
  const char* at;
  std::string parts;
};

const std::string kServer = R"(, "exchange": {"collective": "parameter-server"})";
const std::string kRounds = kServer + R"(, "schedule": {"kind": "rounds"})";
const std::string kGossip =
    R"(, "exchange": {"collective": "gossip"}, "schedule": {"kind": "gossip"})";
const std::string kStages = R"(, "schedule": {"kind": "pipeline", "stages": 2})";
const std::string kZero = R"(, "exchange": {"zero": 2})";
const std::string kEmulated = R"(, "executor": "emulator")";
const std::string kMixed = R"({"name": "mixed-precision"})";
const std::string kSteps = R"(, "schedule": {"local_steps": 4})";

std::string with(const std::string& base, const std::string& name, const std::string& value) {
  return base + ", \"" + name + "\": " + value;
}

/// A scenario of each row, which has what the row says.
std::vector<Example> examples() {
  const std::string udp = R"({"transport": {"protocol": "udp-lossy"}})";
  const std::string ideal = R"({"transport": {"protocol": "ideal"}})";
  const std::string cell = R"({"topology": "wifi-cell"})";
  const std::string away =
      R"({"workers": 3, "absences": [{"worker": 1, "from": "1s", "to": "2s"}]})";
  const std::string background =
      R"({"background": [{"from": "worker0", "to": "worker1", "bandwidth": "1Mbps"}]})";
  const std::string by_server = "schedule rounds, asynchronous", steps = "local steps in lockstep";
  return {
      {by_server, "any collective but parameter-server", "/exchange/collective",
       R"(, "schedule": {"kind": "rounds"})"},
      {by_server, "several shards", "/exchange/shards",
       R"(, "exchange": {"collective": "parameter-server", "shards": 2},
          "schedule": {"kind": "asynchronous"})"},
      {by_server, "transport udp-lossy", "/network/transport/protocol",
       with(kRounds, "network", udp)},
      {"schedule asynchronous", "executor model", "/executor",
       kServer + R"(, "schedule": {"kind": "asynchronous"}, "executor": "model")"},
      {"schedule rounds with late kept", "no deadline", "/schedule/late",
       kServer + R"(, "schedule": {"kind": "rounds", "late": "kept"})"},
      {"schedule rounds with a buffer", "a deadline, or clients that drop out", "/schedule/buffer",
       kServer + R"(, "schedule": {"kind": "rounds", "buffer": 1, "deadline": "1s"})"},
      {"schedule rounds with a buffer", "fewer clients under way", "/schedule/buffer",
       kServer + R"(, "schedule": {"kind": "rounds", "buffer": 2, "sample": 1})"},
      {"schedule lockstep, asynchronous, or a profile", "a method of federated rounds",
       "/method/name", R"(, "method": {"name": "zerofl"})"},
      {"local_epochs", "local_steps", "/schedule/local_epochs",
       kServer + R"(, "schedule": {"kind": "rounds", "local_steps": 2, "local_epochs": 2})"},
      {"schedule gossip", "any collective but gossip", "/exchange/collective",
       R"(, "schedule": {"kind": "gossip"})"},
      {"collective gossip", "any schedule but gossip", "/exchange/collective",
       R"(, "exchange": {"collective": "gossip"})"},
      {"schedule gossip", "transport udp-lossy", "/network/transport/protocol",
       with(kGossip, "network", udp)},
      {"schedule gossip with patience", "executor model", "/executor",
       R"(, "executor": "model", "exchange": {"collective": "gossip"}, "schedule": {"kind": "gossip", "patience": "0s"})"},
      {"schedule gossip with patience", "steps that only mix", "/schedule/final_mixing",
       R"(, "exchange": {"collective": "gossip"}, "schedule": {"kind": "gossip", "patience": "0s", "final_mixing": 3})"},
      {"schedule gossip", "a method of gradients that all workers add up", "/method/name",
       with(kGossip, "method", kMixed)},
      {"any schedule but gossip, or a profile", "a method for gossip", "/method/name",
       R"(, "method": {"name": "choco-sgd"})"},
      {"schedule gossip", "exchange zero, offload", "/exchange/zero",
       R"(, "exchange": {"collective": "gossip", "zero": 1}, "schedule": {"kind": "gossip"})"},
      {"schedule pipeline", "collective parameter-server, scatter-reduce, in-network, gossip, auto",
       "/exchange/collective", kServer + kStages},
      {"schedule pipeline", "transport udp-lossy", "/network/transport/protocol",
       with(kStages, "network", udp)},
      {"schedule pipeline", "exchange zero, offload", "/exchange/zero",
       R"(, "exchange": {"zero": 1})" + kStages},
      {"schedule pipeline",
       "a method with phases, that looks at whole steps or models, or changes samples",
       "/method/name", with(kStages, "method", kMixed)},
      {"any schedule but pipeline, or a profile", "a method for pipelines", "/method/name",
       R"(, "method": {"name": "aq-sgd"})"},
      {by_server, "a method that looks at whole steps", "/method/name",
       with(kRounds, "method", kMixed)},
      {steps, "a method that looks at whole steps", "/schedule/local_steps",
       with(kSteps, "method", kMixed)},
      {"transport udp-lossy", "a method that looks at whole steps", "/network/transport/protocol",
       with(with("", "network", udp), "method", kMixed)},
      {by_server, "a method with phases", "/method/name",
       with(kRounds, "method", R"({"name": "dgc", "ratio": 0.01})")},
      {by_server, "a method that says what a server sends back, or computes what workers send",
       "/method/name", with(kRounds, "method", R"({"name": "fastsgd"})")},
      {"transport udp-lossy", "a method whose workers must all know the same",
       "/network/transport/protocol",
       with(with("", "method", R"({"name": "cgx", "adapt_every": 10})"), "network", udp)},
      {"a method whose workers see the same samples", "a number of workers that is no multiple",
       "/cluster/workers",
       with(with("", "method", R"({"name": "batch-augmentation", "copies": 4})"), "cluster",
            R"({"workers": 6})")},
      {"schedule rounds", "momentum correction", "/method",
       with(kRounds, "method", R"({"name": "dgc", "ratio": 0.01, "warmup_epochs": 0})")},
      {steps, "a method with phases, or momentum correction", "/schedule/local_steps",
       with(kSteps, "method", R"({"name": "dgc", "ratio": 0.01})")},
      {"exchange zero", "collective parameter-server", "/exchange/zero",
       R"(, "exchange": {"collective": "parameter-server", "zero": 1})"},
      {"exchange zero", by_server, "/exchange/zero",
       R"(, "exchange": {"zero": 1}, "schedule": {"kind": "rounds"})"},
      {"exchange zero", "transport udp-lossy", "/exchange/zero", with(kZero, "network", udp)},
      {"exchange zero 2, 3", "local steps in lockstep", "/exchange/zero", kZero + kSteps},
      {"exchange zero 2, 3", "any collective but ring", "/exchange/zero",
       R"(, "exchange": {"collective": "tree", "zero": 3})"},
      {"exchange zero 2, 3",
       "a method that looks at whole steps, or whose messages do not add up on the way",
       "/exchange/zero", with(kZero, "method", R"({"name": "topk", "ratio": 0.1})")},
      {"exchange offload", by_server, "/exchange/offload",
       R"(, "exchange": {"collective": "parameter-server", "offload": {"bandwidth": "128Gbps",
          "memory_bandwidth": "600Gbps"}}, "schedule": {"kind": "rounds"})"},
      {"transport rdma", "links that lose packets", "/network/link",
       with("", "network", R"({"link": {"loss": 0.01}, "transport": {"protocol": "rdma"}})")},
      {"library nccl", "any transport but rdma", "/network/library",
       with("", "network", R"({"library": {}})")},
      {"library nccl", "collective auto", "/network/library",
       with(R"(, "exchange": {"collective": "auto"})", "network",
            R"({"library": {}, "transport": {"protocol": "rdma"}})")},
      {"detail fluid", "radio cells, or transport udp-lossy", "/network/detail",
       R"(, "network": {"detail": "fluid", "transport": {"protocol": "udp-lossy"}})"},
      {"detail per-packet", "transports ideal and rdma", "/network/detail",
       R"(, "network": {"detail": "per-packet", "transport": {"protocol": "rdma"}})"},
      {"executor packet", "transport rdma", "/network/transport/protocol",
       with(R"(, "executor": "packet")", "network", R"({"transport": {"protocol": "rdma"}})")},
      {"executor packet", "transport ideal", "/network/transport/protocol",
       with(R"(, "executor": "packet")", "network", ideal)},
      {"executor packet", "absences in a radio cell", "/cluster/absences",
       with(with(R"(, "executor": "packet")", "network", cell), "cluster", away)},
      {"executor model, emulator", "any transport but tcp (model: or rdma)",
       "/network/transport/protocol", with(kEmulated, "network", udp)},
      {"executor model, emulator", "background traffic", "/network/background",
       with(R"(, "executor": "model")", "network", background)},
      {"executor emulator", "absences", "/cluster/absences", with(kEmulated, "cluster", away)},
      {"executor emulator", "a spread of compute times", "/cluster/spread",
       with(kEmulated, "cluster", R"({"spread": 0.2})")},
      {"executor emulator", "radio cells", "/network/topology", with(kEmulated, "network", cell)},
      {"executor emulator", "half-duplex links", "/network/link",
       with(kEmulated, "network", R"({"link": {"half_duplex": true}})")},
      {"executor flow", "bbr with a calibration against Linux",
       "/network/transport/congestion_control",
       R"(, "network": {"transport": {"congestion_control": "bbr", "calibration": "linux"}})"},
  };
}

/// Rows whose scenarios take a file or another workload; tests of their own have them.
bool is_shown_elsewhere(const Combination& row) {
  return row.other == "an optimiser that is not sgd" ||
         row.other == "a method with an update at the server" ||
         row.other == "optimiser lars, lamb" || row.other == "optimiser quasi-global" ||
         row.one == "micro-batches" || row.other == "activation checkpointing" ||
         row.other == "a method whose server sends new weights";
}

}  // namespace

TEST_CASE("each combination of the table is refused where it says", "[combinations]") {
  const std::vector<Example> all = examples();
  for (const Combination& row : combinations()) {
    CAPTURE(row.one, row.other);
    const auto found = std::ranges::find_if(
        all, [&](const Example& each) { return each.one == row.one && each.other == row.other; });
    if (is_shown_elsewhere(row)) continue;
    REQUIRE(found != all.end());  // a row without an example
    const std::string problems = problems_of(scenario_with(found->parts));
    INFO(problems);
    CHECK(problems.find(std::string(found->at) + ": ") != std::string::npos);
    CHECK(problems.find(row.instead) != std::string::npos);
    CHECK(problems.find('{') == std::string::npos);  // words are filled in
  }
  // Negative controls: halves of the pairs are fine.
  for (const std::string& parts : {std::string(), kServer, kRounds, kSteps, kZero, kStages,
                                   std::string(R"(, "executor": "packet")"),
                                   std::string(R"(, "network": {"topology": "wifi-cell"})")}) {
    CAPTURE(parts);
    CHECK(problems_of(scenario_with(parts)).empty());
  }
}

TEST_CASE("a fluid has no queue that fills and no jitter of packets", "[combinations]") {
  const auto problems = [](const std::string& link, const std::string& detail) {
    return problems_of(scenario_with(R"(, "network": {"link": {)" + link + R"(}, "detail": ")" +
                                     detail + R"("})"));
  };
  const std::string queue = R"("queue": "50kB")", jitter = R"("jitter": "1ms")";
  CHECK(problems(queue, "fluid").find("/network/link/queue: detail fluid has no queue") !=
        std::string::npos);
  CHECK(problems(jitter, "fluid").find("/network/link/jitter: detail fluid has no jitter") !=
        std::string::npos);
  for (const std::string& link : {queue, jitter}) CHECK(problems(link, "auto").empty());
  CHECK(problems(R"("loss": 0.01)", "fluid").empty());
}

TEST_CASE("parts of the optimiser's state are of optimisers by element", "[combinations]") {
  const auto problems = [](const std::string& optimizer, int zero) {
    return problems_of(
        scenario_with(R"(, "exchange": {"zero": )" + std::to_string(zero) + "}",
                      R"("workload": {"optimizer": {"name": ")" + optimizer + R"("}})"));
  };
  for (const char* optimizer : {"lars", "lamb"}) {
    CHECK(problems(optimizer, 1)
              .find("/exchange/zero: " + std::string(optimizer) +
                    " takes norms of whole tensors") != std::string::npos);
    CHECK(problems(optimizer, 0).empty());
  }
  for (const char* optimizer : {"sgd", "adam", "amsgrad", "adamax"})
    CHECK(problems(optimizer, 3).empty());
  // A method whose messages every worker decodes has parts of the state alone.
  const std::string topk = R"(, "method": {"name": "topk", "ratio": 0.1}, "exchange": {"zero": 1})";
  CHECK(problems_of(scenario_with(topk)).empty());
}

TEST_CASE("state in the host's memory needs the host's figures", "[combinations]") {
  const auto problems = [](const std::string& offload, const std::string& device) {
    return problems_of(scenario_with(R"(, "exchange": {"offload": )" + offload +
                                     R"(}, "cluster": {"device": ")" + device + R"("})"));
  };
  const std::string both = R"({"bandwidth": "128Gbps", "memory_bandwidth": "600Gbps"})";
  CHECK(problems(both, "cpu").empty());
  for (const std::string& offload : {std::string("{}"), std::string(R"({"bandwidth": "128Gbps"})")})
    for (const char* device : {"cpu", "reference-cpu"})
      CHECK(problems(offload, device)
                .find("/exchange/offload: device " + std::string(device) +
                      " has no figures of a host") != std::string::npos);
  // A profile that has them.
  CHECK(problems_of(scenario_with(R"(, "exchange": {"offload": {}}, "cluster": {"device": "a100"})",
                                  R"("workload": {"profile": "gpt2-small"})"))
            .empty());
  // A server that makes the update holds the state.
  const std::string server =
      R"(, "exchange": {"collective": "parameter-server", "offload": )" + both + "}";
  CHECK(problems_of(scenario_with(with(server, "method", R"({"name": "comp-ams"})"),
                                  R"("workload": {"optimizer": {"name": "amsgrad"}})"))
            .find("/exchange/offload: ") != std::string::npos);
}

TEST_CASE("rounds take a way down whose messages are stored for clients", "[combinations]") {
  const auto refused = [](const std::string& schedule, const std::string& method) {
    return problems_of(scenario_with(schedule + R"(, "method": )" + method))
               .find("/method/name: ") != std::string::npos;
  };
  const std::string server = R"(, "exchange": {"collective": "parameter-server"})";
  const std::string asynchronous = server + R"(, "schedule": {"kind": "asynchronous"})";
  CHECK_FALSE(refused(kRounds, R"({"name": "stc"})"));
  CHECK_FALSE(refused(server, R"({"name": "stc"})"));
  CHECK(refused(asynchronous, R"({"name": "stc"})"));
  CHECK(refused(kRounds, R"({"name": "natural", "down": "same"})"));  // stores none
  CHECK_FALSE(refused(kRounds, R"({"name": "natural"})"));
}

TEST_CASE("a buffer of rounds knows no deadline, and waits for no more than are under way",
          "[combinations]") {
  const auto refused = [](const std::string& members) {
    return problems_of(scenario_with(R"(, "cluster": {"workers": 8})" + kServer +
                                     R"(, "schedule": {"kind": "rounds", "buffer": 3)" + members +
                                     "}"))
               .find("/schedule/buffer: ") != std::string::npos;
  };
  CHECK_FALSE(refused(""));
  CHECK_FALSE(refused(R"(, "sample": 3)"));
  CHECK(refused(R"(, "sample": 2)"));
  CHECK(refused(R"(, "deadline": "1s")"));
  CHECK(refused(R"(, "deadline": "1s", "drop_out": 0.1)"));
}

TEST_CASE("a method of federated rounds goes with no other schedule", "[combinations]") {
  const std::string zerofl = R"(, "method": {"name": "zerofl"})";
  const auto refused = [&](const std::string& rest, const std::string& workload = "") {
    const std::string text = workload.empty() ? problems_of(scenario_with(rest + zerofl))
                                              : problems_of(scenario_with(rest + zerofl, workload));
    return text.find("/method/name: zerofl is of clients that train by themselves") !=
           std::string::npos;
  };
  CHECK_FALSE(refused(kRounds));
  CHECK(refused(""));
  CHECK(refused(kServer + R"(, "schedule": {"kind": "asynchronous"})"));
  CHECK(refused("", R"("workload": {"profile": "gpt2-small"})"));
}

TEST_CASE("quasi-global momentum is of workers that gossip", "[combinations]") {
  const auto refused = [](const std::string& parts) {
    return problems_of(
               scenario_with(parts, R"("workload": {"optimizer": {"name": "quasi-global"}})"))
               .find("/workload/optimizer/name: quasi-global looks at") != std::string::npos;
  };
  CHECK(refused(""));
  CHECK(refused(kRounds));
  CHECK_FALSE(refused(kGossip));
}

TEST_CASE("micro-batches are of whole batches in lockstep", "[combinations]") {
  const auto refused = [](const std::string& parts, const std::string& workload) {
    return problems_of(scenario_with(parts, R"("workload": {)" + workload + "}"))
               .find("/workload/micro_batches: ") != std::string::npos;
  };
  const std::string four = R"("micro_batches": 4)";
  CHECK_FALSE(refused("", four));
  CHECK(refused(kSteps, four));
  CHECK(refused(kRounds, four));
  CHECK(refused(R"(, "method": {"name": "batch-augmentation", "copies": 2})", four));
  CHECK(refused("", R"("batch_per_worker": 3, )" + four));
}

TEST_CASE("a method's update rule is asked for by name", "[combinations]") {
  const auto problems = [](const std::string& method, const std::string& optimizer) {
    return problems_of(scenario_with(kServer + R"(, "method": {"name": ")" + method + R"("})",
                                     R"("workload": {"optimizer": )" + optimizer + "}"));
  };
  CHECK(problems("comp-ams", R"({"name": "amsgrad"})").empty());
  CHECK(problems("comp-ams", R"({"name": "sgd"})")
            .find("/workload/optimizer/name: comp-ams is a "
                  "method of amsgrad, not of sgd") != std::string::npos);
  CHECK(problems("qsvrg", R"({"name": "sgd", "momentum": 0})").empty());
  CHECK(problems("qsvrg", R"({"name": "sgd", "momentum": 0.9})")
            .find("/workload/optimizer/momentum: qsvrg takes steps without momentum") !=
        std::string::npos);
}

TEST_CASE("rows of the table differ, and the page has them all", "[combinations]") {
  const std::string page = scenario_docs();
  std::set<std::pair<std::string_view, std::string_view>> pairs;
  for (const Combination& row : combinations()) {
    CAPTURE(row.one, row.other);
    CHECK(pairs.emplace(row.one, row.other).second);
    CHECK(page.find("| " + std::string(row.one) + " | " + std::string(row.other) + " |") !=
          std::string::npos);
  }
  CHECK(page.find("{schedule}") == std::string::npos);
}
