#include <catch2/catch.hpp>

#include "scenarios/fields/fields.h"
#include "scenarios/methods.h"
#include "tests/scenarios/support.h"

using namespace gradwire;
using namespace gradwire::scenarios;

namespace {

struct BadInput {
  std::string parts;     ///< members after schema_version, name and workload
  std::string expected;  ///< the whole message
  std::string workload = R"("workload": {})";
};

/// What a choice allows, in the order of the table.
std::string choices_at(const char* pointer) {
  return allowed_text(scenario_table().find(pointer)->field().spec);
}

/// The options of a codec, as a list of keys.
std::string options_of(const char* codec) {
  std::string text;
  for (const OptionSpec& option : find_codec(codec)->options) text += ", " + option.name;
  return text;
}

/// The gradient codecs that have an option, as a reader lists them.
std::string codecs_with(const char* option) {
  std::string text;
  for (const compressors::CodecInfo& codec : compressors::codec_catalogue()) {
    if (!why_no_gradient_codec(codec).empty()) continue;
    for (const OptionSpec& each : codec.options)
      if (each.name == option) text += (text.empty() ? "" : " or ") + codec.name;
  }
  return text;
}

/// The same where methods of the catalogue can be named, which stand behind the codecs.
std::string methods_with(const char* option) {
  std::string text;
  const auto add = [&](const std::string& name, const OptionTable& options) {
    for (const OptionSpec& each : options)
      if (each.name == option) text += (text.empty() ? "" : " or ") + name;
  };
  for (const compressors::CodecInfo& codec : compressors::codec_catalogue())
    if (why_no_gradient_codec(codec).empty() && !methods::find_method(codec.name))
      add(codec.name, codec.options);
  for (const methods::MethodRow& method : methods::method_catalogue())
    add(method.name, method.options);
  return text;
}

const std::string kRule =
    R"(, "method": {"name": "compressed", "codec": {"name": "topk"}, "rules": [)";

const std::string kMomentum =
    R"(, "method": {"name": "compressed", "codec": {"name": "topk"}, "momentum_correction": )";

/// A workload whose optimiser has these members; whose schedule has them.
std::string optimizer(const std::string& members) {
  return R"("workload": {"optimizer": {)" + members + "}}";
}
std::string schedule(const std::string& members) {
  return optimizer(R"("schedule": {)" + members + "}");
}

const std::string kExplicit =
    R"(, "network": {"topology": "explicit", "hosts": ["a", "b"], "links": )";

}  // namespace

TEST_CASE("one mistake, one message: place, what is allowed, what was meant", "[unit]") {
  const BadInput cases[] = {
      // Unknown keys.
      {R"(, "network": {"link": {"bandwith": "1Gbps"}})",
       "t.json:1: /network/link/bandwith: there is no such key; allowed: bandwidth, delay, loss, "
       "queue, bandwidth_back, access, jitter, burst, half_duplex, schedule, schedule_hash, "
       "changes, schedule_back, "
       "schedule_back_hash, changes_back, changes_repeat, outages; "
       "did you mean \"bandwidth\"?"},
      {R"(, "netwrok": {})",
       "t.json:1: /netwrok: there is no such key; allowed: $schema, schema_version, name, "
       "description, workload, method, cluster, network, exchange, schedule, executor, seeds, "
       "sweep, "
       "prices, expected; "
       "did you mean \"network\"?"},
      {R"(, "method": {"name": "topk", "raito": 0.1})",
       "t.json:1: /method/raito: there is no such key; allowed: name, error_feedback" +
           options_of("topk") + "; did you mean \"ratio\"?"},
      // Wrong types.
      {R"(, "cluster": {"workers": "4"})",
       "t.json:1: /cluster/workers: an integer is needed, not a text; allowed: integer >= 1 and <= "
       "65536"},
      {R"(, "cluster": [])", "t.json:1: /cluster: an object is needed"},
      {R"(, "cluster": {"workers": 2.5})",
       "t.json:1: /cluster/workers: 2.5 is not a whole number; allowed: integer >= 1 and <= 65536"},
      {R"(, "exchange": {"overlap": 1})",
       "t.json:1: /exchange/overlap: true or false is needed, not a number; allowed: true, false"},
      {R"(, "network": {"link": {"loss": "1%"}})",
       "t.json:1: /network/link/loss: a number is needed, not a text; allowed: number >= 0 and < "
       "1"},
      {R"(, "network": {"link": {"loss": null}})",
       "t.json:1: /network/link/loss: a number is needed, not null; allowed: number >= 0 and < 1"},
      // Units.
      {R"(, "network": {"link": {"bandwidth": 1000000}})",
       "t.json:1: /network/link/bandwidth: a bare number has no unit; write a text such as "
       "\"1Gbps\"; "
       "allowed: rate with unit (bps kbps Mbps Gbps, Bps kBps MBps) > 0 and <= 1e+15"},
      {R"(, "network": {"link": {"bandwidth": "1gbps"}})",
       "t.json:1: /network/link/bandwidth: \"1gbps\" is not a rate with a unit; allowed: rate with "
       "unit "
       "(bps kbps Mbps Gbps, Bps kBps MBps) > 0 and <= 1e+15; did you mean \"1Gbps\"?"},
      {R"(, "network": {"link": {"delay": "50"}})",
       "t.json:1: /network/link/delay: \"50\" is not a duration with a unit; allowed: duration "
       "with unit "
       "(ns us ms s min h) >= 0 and <= 3600"},
      {R"(, "exchange": {"bucket": "1.5B"})",
       "t.json:1: /exchange/bucket: \"1.5B\" is not a size with a unit; allowed: size with unit (B "
       "kB MB "
       "GB KiB MiB GiB) >= 4; did you mean \"1.5B\"?"},
      // Ranges.
      {R"(, "cluster": {"workers": 0})",
       "t.json:1: /cluster/workers: 0 is out of range; allowed: integer >= 1 and <= 65536"},
      {R"(, "network": {"link": {"loss": 1}})",
       "t.json:1: /network/link/loss: 1 is out of range; allowed: number >= 0 and < 1"},
      {R"(, "network": {"link": {"bandwidth": "-1Gbps"}})",
       "t.json:1: /network/link/bandwidth: \"-1Gbps\" is out of range; allowed: rate with unit "
       "(bps kbps "
       "Mbps Gbps, Bps kBps MBps) > 0 and <= 1e+15"},
      {R"(, "network": {"link": {"delay": "nan s"}})",
       "t.json:1: /network/link/delay: \"nan s\" is not a duration with a unit; allowed: duration "
       "with "
       "unit (ns us ms s min h) >= 0 and <= 3600"},
      {"", "t.json:1: /workload/optimizer/lr: 0 is out of range; allowed: number > 0 and <= 1000",
       R"("workload": {"optimizer": {"lr": 0}})"},
      // Choices.
      {R"(, "executor": "flwo")",
       "t.json:1: /executor: \"flwo\" is not a choice; allowed: model, flow, packet, emulator; did "
       "you mean "
       "\"flow\"?"},
      {R"(, "method": {"name": "terngrda", "clip": 1})",
       "t.json:1: /method/name: \"terngrda\" is not a choice; allowed: " +
           choices_at("/method/name") + "; did you mean \"terngrad\"?"},
      {R"(, "method": {"name": "lars"})",
       "t.json:1: /method/name: \"lars\" is set elsewhere: each layer's rate follows its norms "
       "(/workload/optimizer/name); allowed: " +
           choices_at("/method/name")},
      // Fields that do not go together.
      {R"(, "method": {"name": "none", "ratio": 0.1})",
       "t.json:1: /method/ratio: does not go with /method/name = none; allowed: only with " +
           methods_with("ratio")},
      // Compressed: codec, decorators, rules.
      {R"(, "method": {"name": "compressed"})",
       "t.json:1: /method/codec: is missing; allowed: an object"},
      {R"(, "method": {"name": "topk", "codec": {"name": "topk"}})",
       "t.json:1: /method/codec: does not go with /method/name = topk; allowed: only with "
       "compressed"},
      {R"(, "method": {"name": "compressed", "codec": {"name": "topk", "ratio": 2}})",
       "t.json:1: /method/codec/ratio: 2 is out of range; allowed: number > 0 and <= 1"},
      {R"(, "method": {"name": "compressed", "codec": {"name": "none", "ratio": 0.1}})",
       "t.json:1: /method/codec/ratio: does not go with /method/codec/name = none; allowed: only "
       "with " +
           codecs_with("ratio")},
      {R"(, "method": {"name": "compressed", "codec": {"name": "none"}, "error_feedback": true})",
       "t.json:1: /method/error_feedback: nothing is lost with method none, so nothing is fed "
       "back; "
       "allowed: false"},
      {R"(, "method": {"name": "compressed", "codec": {"name": "topk"}, "clip": {}})",
       "t.json:1: /method/clip/threshold: is missing; allowed: number > 0 and <= 1e+30"},
      {kRule + R"({"codec": {"name": "fp16"}}, {"codec": {"name": "none", "ratio": 0.1}}]})",
       "t.json:1: /method/rules/1/codec/ratio: does not go with /method/rules/1/codec/name = none; "
       "allowed: only with " +
           codecs_with("ratio")},
      {kRule + R"({"elements_below": -1}]})",
       "t.json:1: /method/rules/0/elements_below: -1 is out of range; allowed: integer >= 0 and <= "
       "1e+12\n"
       "t.json:1: /method/rules/0/codec: is missing; allowed: an object"},

      {R"(, "method": {"name": "none", "error_feedback": true})",
       "t.json:1: /method/error_feedback: nothing is lost with method none, so nothing is fed "
       "back; "
       "allowed: false"},
      {R"(, "network": {"switches": ["s"]})",
       "t.json:1: /network/switches: does not go with /network/topology = star; allowed: only with "
       "explicit"},
      {R"(, "network": {"server_link": {}})",
       "t.json:1: /network/server_link: no parameter server takes part; allowed: only with "
       "collective "
       "parameter-server, or federated rounds"},
      {R"(, "executor": "emulator", "network": {"transport": {"delayed_ack": "1ms"}})",
       "t.json:1: /network/transport/delayed_ack: the emulator runs on the kernel's TCP, whose "
       "value is "
       "fixed; allowed: the default"},
      {R"(, "network": {"transport": {"wire_segment": "1000B"}})",
       "t.json:1: /network/transport/wire_segment: a segment on the wire is smaller than its "
       "payload; "
       "allowed: >= 1448B"},
      {R"(, "network": {"link": {"queue": "1kB"}})",
       "t.json:1: /network/link/queue: not one full segment fits into the queue; allowed: 0B "
       "(automatic) or "
       ">= 1538B"},
      {"",
       "t.json:1: /workload/optimizer/momentum: does not go with /workload/optimizer/name = adam; "
       "allowed: "
       "only with sgd or lars or quasi-global",
       R"("workload": {"optimizer": {"name": "adam", "momentum": 0.9}})"},
      {"",
       "t.json:1: /workload/loss: is of models from a file of torch.jit alone; allowed: "
       "cross-entropy, squared-hinge",
       R"("workload": {"loss": "mse"})"},
      // Optimisers and their rates.
      {"",
       "t.json:1: /workload/optimizer/name: \"lamp\" is not a choice; allowed: sgd, adam, amsgrad, "
       "adamax, lars, lamb, adagrad-cmd, adagrad-rda, quasi-global, shift-adamax; did you mean "
       "\"lamb\"?",
       optimizer(R"("name": "lamp")")},
      {"",
       "t.json:1: /workload/optimizer/nesterov: there is no momentum to step along; allowed: "
       "false, "
       "or a momentum > 0",
       optimizer(R"("nesterov": true)")},
      {kMomentum + R"({}})",
       "t.json:1: /workload/optimizer/nesterov: the workers apply the momentum, the optimiser does "
       "not; allowed: false, or /method/momentum_correction/nesterov true",
       optimizer(R"("momentum": 0.9, "nesterov": true)")},
      {"",
       "t.json:1: /workload/optimizer/ratio_min: 2 is above ratio_max, which is 1; allowed: at "
       "most "
       "1, or ratio_max 0 (none)",
       optimizer(R"("name": "lamb", "ratio_min": 2, "ratio_max": 1)")},
      {"", "t.json:1: /workload/optimizer/schedule/milestones: is missing; allowed: a list",
       schedule(R"("name": "step")")},
      {"",
       "t.json:1: /workload/optimizer/schedule/power: does not go with "
       "/workload/optimizer/schedule/name = cosine; allowed: only with polynomial",
       schedule(R"("name": "cosine", "power": 2)")},
      {"",
       "t.json:1: /workload/optimizer/schedule/warm_up_from: there is no warm-up that could start "
       "there; allowed: only with a warm_up > 0",
       schedule(R"("warm_up_from": 0.1)")},
      {"",
       "t.json:1: /workload/optimizer/schedule/warm_up: the run ends after 200 steps, before the "
       "rate is warmed up; allowed: less than 200, or more /workload/steps",
       schedule(R"("warm_up": 200)")},
      {"",
       "t.json:1: /workload/optimizer/schedule/over: the rate ends at 10, and the warm-up at 20; "
       "allowed: more than warm_up",
       schedule(R"("name": "cosine", "warm_up": 20, "over": 10)")},
      {"",
       "t.json:1: /workload/optimizer/schedule/milestones: they do not rise; allowed: each after "
       "the one before",
       schedule(R"("name": "step", "milestones": [50, 20])")},
      {"",
       "t.json:1: /workload/optimizer/schedule/milestones: the first, 10, comes within the "
       "warm-up; allowed: from warm_up on",
       schedule(R"("name": "step", "milestones": [10], "warm_up": 20)")},
      {"",
       "t.json:1: /workload/optimizer/schedule/reference_batch: does not go with "
       "/workload/optimizer/schedule/scaling = none; allowed: only with linear or square-root",
       schedule(R"("reference_batch": 32)")},
      {"",
       "t.json:1: /workload/data/set: model char-lstm cannot learn from data set digits; allowed: "
       "text, markov",
       R"("workload": {"model": "char-lstm"})"},
      {"",
       "t.json:1: /workload/data/set: model lenet5 cannot learn from data set sparse-logit; "
       "allowed: digits, mnist, cifar10, idx, raw, glyph",
       R"("workload": {"model": "lenet5", "data": {"set": "sparse-logit"}})"},
      {"",
       "t.json:1: /workload/data/sigma: does not go with /workload/data/set = markov; allowed: "
       "only with glyph",
       R"("workload": {"model": "char-lstm", "data": {"set": "markov", "sigma": 1}})"},
      {"",
       "t.json:1: /workload/data/partition/kind: samples of text have no class by which dirichlet "
       "could part them; allowed: iid, shards",
       R"("workload": {"model": "char-lstm", "data": {"set": "text", )"
       R"("partition": {"kind": "dirichlet"}}})"},
      {"",
       "t.json:1: /workload/data/partition/size_spread: does not go with "
       "/workload/data/partition/kind = shards; allowed: only with iid or classes or dirichlet",
       R"("workload": {"data": {"partition": {"kind": "shards", "size_spread": 1}}})"},
      {"",
       "t.json:1: /workload/data/samples: 0 is out of range; allowed: integer >= 1 and <= 10000000",
       R"("workload": {"data": {"set": "gaussian-clusters", "samples": 0}})"},
      {"",
       "t.json:1: /workload/hidden: does not go with /workload/model = logistic; allowed: only "
       "with mlp or cnn or char-lstm or transformer",
       R"("workload": {"model": "logistic", "hidden": [64]})"},
      {"", "t.json:1: /workload/hidden/1: 0 is out of range; allowed: integer >= 1 and <= 65536",
       R"("workload": {"hidden": [64, 0]})"},
      {"",
       "t.json:1: /workload/hidden: char-lstm has one hidden layer; allowed: a list of one width",
       R"("workload": {"model": "char-lstm", "data": {"set": "markov"}, "hidden": [64, 64]})"},
      {"",
       "t.json:1: /workload/checkpoint_activations: mlp has 3 parts, no more segments; allowed: 2 "
       "to 3",
       R"("workload": {"checkpoint_activations": 4})"},
      {"",
       "t.json:1: /workload/checkpoint_activations: mlp has 2 parts, no more segments; allowed: 2 "
       "to 2",
       R"("workload": {"hidden": [64], "checkpoint_activations": 3})"},
      {"",
       "t.json:1: /workload/checkpoint_activations: does not go with /workload/model = logistic; "
       "allowed: only with mlp or lenet5 or cnn or resnet20 or char-lstm or transformer",
       R"("workload": {"model": "logistic", "checkpoint_activations": 2})"},
      {R"(, "cluster": {"device": "v100"})",
       "t.json:1: /workload/checkpoint_activations: the table has 27 layers, no more segments; "
       "allowed: 2 to 27",
       R"("workload": {"profile": "vgg-a", "checkpoint_activations": 50})"},
      {"",
       "t.json:1: /workload/checkpoint_activations: does not go with a workload of kind "
       "collective; allowed: only with training, profile",
       R"("workload": {"collective": "ring-all-reduce", "bytes": "1MB", "checkpoint_activations": 2})"},
      {kMomentum + R"({"momentum": 0.5}})",
       "t.json:1: /method/momentum_correction/momentum: differs from the optimiser's momentum, in "
       "whose place the workers apply it; allowed: the same as /workload/optimizer/momentum, or "
       "leave either out",
       R"("workload": {"optimizer": {"momentum": 0.9}})"},
      {kMomentum + R"({"clip": -1}})",
       "t.json:1: /method/momentum_correction/clip: -1 is out of range; allowed: number >= 0 and "
       "<= 1e+30"},
      {kMomentum + R"({}, "error_feedback": false})",
       "t.json:1: /method/error_feedback: momentum correction keeps what was not sent, which is "
       "error feedback; allowed: true"},
      {kMomentum + R"({}})",
       "t.json:1: /method/momentum_correction: workers apply the momentum of sgd, not of adam; "
       "allowed: /workload/optimizer/name sgd",
       R"("workload": {"optimizer": {"name": "adam"}})"},
      // Workload kinds.
      {"",
       "t.json:1: /workload/federated/drop_out: without a deadline a round waits for ever for a "
       "client that drops out; allowed: 0, or a /workload/federated/deadline",
       R"("workload": {"federated": {"drop_out": 0.1}})"},
      {"", "t.json:1: /workload/federated/sample: there are 4 clients; allowed: all or fewer",
       R"("workload": {"federated": {"sample": 5}})"},
      {R"(, "executor": "model")",
       "t.json:1: /workload/federated/deadline: the model executor knows no clock by which a round "
       "could be cut off; allowed: 0s, or executor flow, packet or emulator",
       R"("workload": {"federated": {"deadline": "5s"}})"},
      {R"(, "cluster": {"workers": 7})",
       "t.json:1: /workload/graph: cannot make a gossip graph a torus of 7 workers: a grid needs "
       "two rows at least: their number is prime",
       R"("workload": {"collective": "gossip", "graph": "torus"})"},
      {R"(, "cluster": {"workers": 3})",
       "t.json:1: /workload/pipeline/stages: 2 stages for 3 workers; allowed: one stage a worker, "
       "or none listed",
       R"("workload": {"pipeline": {"stages": [{}, {"forward": "1ms"}]}})"},
      {"",
       "t.json:1: /workload/collective: mixes two kinds of workload: model and collective; "
       "allowed: one of "
       "model, profile, collective, transfers, pipeline, federated",
       R"("workload": {"model": "mlp", "collective": "ring-all-reduce"})"},
      {"",
       "t.json:1: /workload/steps: does not go with a workload of kind collective; allowed: only "
       "with "
       "training, profile",
       R"("workload": {"collective": "ring-all-reduce", "steps": 3})"},
      {R"(, "method": {"name": "topk"})",
       "t.json:1: /method: does not go with a workload of kind collective; allowed: only with "
       "training, "
       "profile",
       R"("workload": {"collective": "ring-all-reduce"})"},
      // Files and names.
      {"", "t.json:1: /workload/data/path: there is no file or folder no-such-folder",
       R"("workload": {"data": {"set": "mnist", "path": "no-such-folder"}})"},
      {"",
       "t.json:1: /workload/data/path: data set cifar10 is not built in; allowed: the path of its "
       "files",
       R"("workload": {"data": {"set": "cifar10"}})"},
      {"", "t.json:1: /workload/data/labels: is missing; allowed: the file with the labels of path",
       R"("workload": {"data": {"set": "idx", "path": "."}})"},
      {"", "t.json:1: /workload/data/held_out_path: there is no file or folder no-such-file",
       R"("workload": {"data": {"set": "csv", "path": ".", "held_out_path": "no-such-file"}})"},
      {"", "t.json:1: /workload/data/path: data set digits has no files; allowed: none",
       R"("workload": {"data": {"path": "no-such-folder"}})"},
      {R"(, "cluster": {"device": "reference-cpuu"})",
       "t.json:1: /cluster/device: cannot find device profile reference-cpuu: no such profile "
       "ships "
       "(shipped: a10, a100, a100-80gb, a30, a40, a6000, b200, gtx-1080, gtx-1080-ti, h100, "
       "h100-pcie, h200, k80, l4, l40s, m40, mi300x, p100, p40, reference-cpu, rtx-2080-ti, "
       "rtx-3090, rtx-4090, t4, v100, v100-pcie); did you mean "
       "\"reference-cpu\"?; allowed: cpu, cuda, a device "
       "profile"},
      {"",
       "t.json:1: /workload/transfers/0/to: there is no host \"worker4\"; allowed: worker0 to "
       "worker3",
       R"("workload": {"transfers": [{"from": "worker0", "to": "worker4", "bytes": "1MB"}]})"},
      {"",
       "t.json:1: /workload/transfers/0/bytes: is missing; allowed: size with unit (B kB MB GB KiB "
       "MiB "
       "GiB) >= 1",
       R"("workload": {"transfers": [{"from": "worker0", "to": "worker1"}]})"},
      {"", "t.json:1: /workload/transfers: the list is empty", R"("workload": {"transfers": []})"},
      // Lists of workers.
      {R"(, "cluster": {"stragglers": [{"worker": 4, "factor": 2}]})",
       "t.json:1: /cluster/stragglers/0/worker: there is no worker 4; allowed: 0 to 3"},
      {R"(, "cluster": {"stragglers": [{"worker": 1, "factor": 2}, {"worker": 1, "factor": 3}]})",
       "t.json:1: /cluster/stragglers/1/worker: worker 1 stands twice in the list"},
      // Explicit topologies.
      {kExplicit + R"([{"a": "a", "b": "c"}]})",
       "t.json:1: /network/links/0/b: there is no host or switch \"c\"; allowed: names of "
       "/network/hosts and "
       "/network/switches; did you mean \"a\"?"},
      {R"(, "network": {"topology": "explicit", "hosts": ["a", "a"], "links": [{"a": "a", "b": "a"}]})",
       "t.json:1: /network/hosts/1: the name \"a\" stands twice\n"
       "t.json:1: /network/links/0/b: a link joins a node to itself"},
      {R"(, "cluster": {"workers": 3})" + kExplicit + R"([{"a": "a", "b": "b"}]})",
       "t.json:1: /cluster/workers: the explicit topology has 2 worker hosts, not 3; allowed: 2"},
      {R"(, "network": {"topology": "explicit"})",
       "t.json:1: /network/hosts: is missing; allowed: a list\n"
       "t.json:1: /network/links: is missing; allowed: a list"},
      {R"(, "network": {"topology": "explicit", "hosts": ["a", "b"], "switches": ["s"], "links": [{"a": "a", "b": "s"}, {"a": "s", "b": "b"}], "routes": [{"from": "a", "to": "b", "via": ["s", "a", "s"]}]})",
       "t.json:1: /network/routes: cannot use the route from a to b: it loops: it comes to a "
       "twice"},
      {R"(, "network": {"topology": "explicit", "hosts": ["a", "b"], "links": [{"a": "a", "b": "b"}], "routes": [{"from": "a", "to": "c", "via": ["d"]}]})",
       "t.json:1: /network/routes/0/to: there is no host \"c\"; allowed: names of /network/hosts; "
       "did you mean \"a\"?\n"
       "t.json:1: /network/routes/0/via/0: there is no host or switch \"d\"; allowed: names of "
       "/network/hosts and /network/switches; did you mean \"a\"?"},
      // Generated topologies.
      {R"(, "network": {"topology": "fat-tree", "k": 3})",
       "t.json:1: /network/k: cannot build a fat tree: its switches have 3 ports, and need an even "
       "number of 2 or more"},
      {R"(, "network": {"topology": "fat-tree", "k": 4}, "cluster": {"workers": 17})",
       "t.json:1: /network/k: cannot build a fat tree: switches of 4 ports give room for 16 hosts, "
       "not for 17"},
      {R"(, "network": {"topology": "torus", "columns": 3})",
       "t.json:1: /network/rows: is missing; allowed: integer >= 1 and <= 65536"},
      {R"(, "network": {"topology": "torus", "columns": 3, "rows": 2}, "cluster": {"workers": 5})",
       "t.json:1: /network/columns: cannot build a torus: it has 3 columns and 2 rows for 5 hosts"},
      {R"(, "network": {"topology": "two-tier", "racks": 5})",
       "t.json:1: /network/racks: cannot build a two-tier network: it needs a spine and from 1 to "
       "as many racks as workers; it has 1 spines and 5 racks for 4 workers"},
      {R"(, "network": {"topology": "ring", "uplink": {}})",
       "t.json:1: /network/uplink: does not go with /network/topology = ring; allowed: only with "
       "two-tier or fat-tree"},
      {R"(, "network": {"topology": "wan", "sites": [{"name": "a"}, {"name": "b"}]})",
       "t.json:1: /network/site_links: cannot route from worker0 to worker1: no path joins them; "
       "add a link between their parts of the network"},
      {R"(, "network": {"topology": "wan", "sites": [{"name": "a"}, {"name": "a"}], "site_links": [{"a": "a", "b": "c"}]}, "cluster": {"workers": 3})",
       "t.json:1: /network/sites/1: the name \"a\" stands twice\n"
       "t.json:1: /network/site_links/0/b: there is no site \"c\"; allowed: names of "
       "/network/sites; did you mean \"a\"?\n"
       "t.json:1: /cluster/workers: the sites have 2 workers, not 3; allowed: 2"},
      // Seeds.
      {R"(, "seeds": [])",
       "t.json:1: /seeds: is not a form of seeds; allowed: a list of integers, not empty, or "
       "{\"count\": n}"},
      {R"(, "seeds": [1, 1])", "t.json:1: /seeds/1: the seed stands twice in the list"},
      {R"(, "seeds": [-1])",
       "t.json:1: /seeds/0: -1 is out of range; allowed: integer >= 0 and <= 9.00719925e+15"},
      {R"(, "seeds": {"count": 0})",
       "t.json:1: /seeds/count: 0 is not a number of seeds; allowed: integer >= 1 and <= 100000"},
      {R"(, "expected": {"runs": 2})", "t.json:1: /expected/runs: the scenario has 1 runs, not 2"},
  };
  for (const BadInput& bad : cases)
    CHECK(problems_of(scenario_with(bad.parts, bad.workload)) == bad.expected);
}

TEST_CASE("codecs that are not for gradients are refused with the reason", "[unit]") {
  compressors::CodecInfo codec;
  CHECK(why_no_gradient_codec(codec).empty());
  codec.family = compressors::CodecFamily::kActivations;
  CHECK(why_no_gradient_codec(codec) == "is for activations, not for gradients");
  codec.family = compressors::CodecFamily::kSparse;
  codec.needs_mask = true;
  CHECK(why_no_gradient_codec(codec).find("needs a mask") == 0);
  for (const compressors::CodecInfo& each : compressors::codec_catalogue()) {
    const std::string reason = why_no_gradient_codec(each);
    const std::string method = R"({"name": ")" + each.name + R"("})";
    for (const std::string& form : {method, R"({"name": "compressed", "codec": )" + method + "}"}) {
      const std::string found = problems_of(scenario_with(", \"method\": " + form));
      INFO(found);
      CHECK(found.empty() == reason.empty());
      CHECK(found.find(reason) != std::string::npos);
    }
  }
}

TEST_CASE("all mistakes of a file are told at once, in the order of their lines", "[unit]") {
  const std::string text =
      "{\n"
      "  \"schema_version\": 1,\n"
      "  \"workload\": { \"steps\": 0, \"batch\": 3 },\n"
      "  \"cluster\": { \"workers\": 0 },\n"
      "  \"network\": {\n"
      "    \"link\": { \"loss\": 1.5,\n"
      "      \"delay\": 5 } },\n"
      "  \"executor\": \"emulater\"\n"
      "}\n";
  try {
    read_scenario_text(text, "dir/f.json");
    FAIL("accepted");
  } catch (const ScenarioError& error) {
    std::string places;
    for (const auto& problem : error.problems())
      places += std::to_string(problem.line) + problem.pointer + " ";
    CHECK(places ==
          "1/name 3/workload/batch 3/workload/steps 4/cluster/workers 6/network/link/loss "
          "7/network/link/delay 8/executor ");
    CHECK(error.kind() == ErrorKind::kScenario);
    CHECK(std::string(error.what()).find("dir/f.json:6: /network/link/loss: 1.5 is out of range") !=
          std::string::npos);
  }
}

TEST_CASE("a newer format is refused for that reason alone", "[unit]") {
  CHECK(problems_of(R"({"schema_version": 2, "name": "t", "new_thing": 1})") ==
        "t.json:1: /schema_version: written for version 2 of the format, which is newer than this "
        "program "
        "knows; allowed: up to 1");
}

TEST_CASE("what is not a scenario at all is refused", "[unit]") {
  CHECK(problems_of(scenario_schema().dump()) ==
        "t.json:1: /$schema: this is a JSON Schema, not a scenario");
  CHECK(problems_of("[]") == "t.json:1: /: an object is needed");
  CHECK(problems_of("{\n  \"a\": 1,\n  }").find("t.json:3:3: /: not valid JSON: ") == 0);
  CHECK(problems_of("{\"name\": \"a\", \"name\": \"b\"}") ==
        "t.json:1: /name: the key stands twice in one object; allowed: each key once");
}

TEST_CASE("unreachable hosts are refused", "[unit]") {
  const std::string text = scenario_with(
      R"(, "network": {"topology": "explicit", "hosts": ["a", "b", "c"], "links": [{"a": "a", "b": "b"}]})");
  CHECK(problems_of(text).find("t.json:1: /network/links: cannot") == 0);
}

TEST_CASE("codecs that only a server can combine do not go with a ring", "[unit]") {
  using compressors::AggregatePolicy;
  CHECK_FALSE(exchange_conflict(AggregatePolicy::kServer, "ring").empty());
  CHECK(exchange_conflict(AggregatePolicy::kServer, "parameter-server").empty());
  for (const auto policy :
       {AggregatePolicy::kSum, AggregatePolicy::kGather, AggregatePolicy::kRequantize})
    CHECK(exchange_conflict(policy, "ring").empty());
}

TEST_CASE("sums go by all-reduces, other messages by all-gathers", "[unit]") {
  using compressors::AggregatePolicy;
  for (const char* collective : {"tree", "halving-doubling", "two-level", "in-network"}) {
    CHECK(exchange_conflict(AggregatePolicy::kSum, collective).empty());
    CHECK_FALSE(exchange_conflict(AggregatePolicy::kGather, collective).empty());
    CHECK_FALSE(exchange_conflict(AggregatePolicy::kRequantize, collective).empty());
    CHECK_FALSE(exchange_conflict(AggregatePolicy::kServer, collective).empty());
  }
  for (const auto policy :
       {AggregatePolicy::kSum, AggregatePolicy::kGather, AggregatePolicy::kRequantize})
    CHECK((exchange_conflict(policy, "scatter-reduce").empty() &&
           exchange_conflict(policy, "auto").empty()));
  CHECK_FALSE(exchange_conflict(AggregatePolicy::kServer, "scatter-reduce").empty());
  CHECK_FALSE(exchange_conflict(AggregatePolicy::kServer, "auto").empty());
  CHECK_FALSE(exchange_conflict(AggregatePolicy::kSum, "direct").empty());
  CHECK(exchange_conflict(AggregatePolicy::kGather, "direct").empty());
  CHECK(exchange_conflict(AggregatePolicy::kRequantize, "direct").empty());
  CHECK_FALSE(exchange_conflict(AggregatePolicy::kServer, "direct").empty());
}

TEST_CASE("the group of a two-level exchange is a machine's workers, or given", "[unit]") {
  const auto group = [](const std::string& parts) {
    return read_scenario_text(scenario_with(parts), "t.json").runs[0].exchange.group;
  };
  const std::string two = R"(, "exchange": {"collective": "two-level")";
  CHECK(group(two + "}") == 8);
  CHECK(group(two + R"(, "group": 5})") == 5);
  CHECK(group(two + R"(}, "network": {"topology": "gpu-nodes", "gpus_per_node": 4})") == 4);
  CHECK(problems_of(scenario_with(R"(, "exchange": {"group": 5})")) != "");
}

TEST_CASE("a device profile's times are not those of other widths, which is said", "[unit]") {
  const auto warnings = [](const std::string& workload) {
    std::string text;
    const std::string device = R"(, "cluster": {"device": "reference-cpu"})";
    for (const std::string& each :
         read_scenario_text(scenario_with(device, workload), "t.json").warnings)
      text += each + "\n";
    return text;
  };
  CHECK(warnings(R"("workload": {"hidden": [64]})").find("not scaled to /workload/hidden") !=
        std::string::npos);
  CHECK(warnings(R"("workload": {"model": "mlp"})").empty());
  CHECK(warnings(R"("workload": {"checkpoint_activations": 1})").find("computes all of it twice") !=
        std::string::npos);
  CHECK(warnings(R"("workload": {"checkpoint_activations": 2})").empty());
}

TEST_CASE("suspicious values are warned about, usual ones are not", "[unit]") {
  const auto warnings = [](const std::string& parts) {
    std::string text;
    for (const std::string& each : read_scenario_text(scenario_with(parts), "t.json").warnings)
      text += each + "\n";
    return text;
  };
  CHECK(warnings(R"(, "network": {"link": {"delay": "50ms", "loss": 0.05}})").empty());
  CHECK(warnings(R"(, "network": {"link": {"delay": "2s"}})")
            .find("t.json:1: /network/link/delay: suspicious "
                  "value \"2s\"") == 0);
  CHECK(warnings(R"(, "network": {"link": {"loss": 0.3}})").find("/network/link/loss") !=
        std::string::npos);
  CHECK(warnings(R"(, "network": {"link": {"bandwidth": "1kbps"}})").find("bandwidth") !=
        std::string::npos);
  CHECK(warnings(R"(, "method": {"name": "topk", "ratio": 0.9})").find("/method/ratio") !=
        std::string::npos);
  CHECK(warnings(R"(, "executor": "model", "network": {"link": {"loss": 0.01}})")
            .find("the model executor does not know loss") != std::string::npos);
}
