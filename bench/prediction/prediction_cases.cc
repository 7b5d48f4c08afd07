#include "bench/prediction/prediction_cases.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "bench/fidelity/case_parts.h"
#include "bench/prediction/unequal_networks.h"
#include "runner/prediction/mean_step.h"
#include "scenarios/share.h"

namespace gradwire::bench {
namespace {

using nlohmann::ordered_json;

constexpr std::uint32_t kRegimes = 100;  ///< first number of the regimes' draws
constexpr int kBatch = 32;
constexpr int kExactSteps = 11, kManyExactSteps = 5;
constexpr int kManyWorkers = 256;
constexpr int kFewWorkers = 8;
constexpr int kLeastSeeds = 3, kMostSeeds = 400;
constexpr double kWantedError = 0.02;  ///< standard error of a mean, as a share of it
constexpr double kMostWork = 6e6;      ///< of simulating one number of workers (work_of)

struct Kind {
  const char* exchange;
  const char* collective;
  std::array<const char*, 3> codecs;
};
/// What a ring sums, what it gathers, and what a server takes.
constexpr std::array<Kind, 3> kKinds = {
    {{"ring", "ring", {"none", "fp16", "terngrad"}},
     {"all-gather", "ring", {"topk", "qsgd", "sign"}},
     {"server", "parameter-server", {"none", "fp16", "terngrad"}}}};

std::string table_of(Draws& draws, double bytes) {
  const int layers = draws.integer(4, 12);
  std::vector<double> parts;
  double sum = 0;
  for (int l = 0; l < layers; ++l) sum += parts.emplace_back(draws.log_uniform(1, 30));
  const double seconds = draws.log_uniform(2e-5, 5e-4);  // a sample, all layers forward
  ordered_json rows = ordered_json::array();
  for (int l = 0; l < layers; ++l) {
    const double share = draws.log_uniform(0.5, 2) / layers;
    const auto elements = std::max<std::int64_t>(
        1, std::llround(bytes / 4 * parts[static_cast<std::size_t>(l)] / sum));
    rows.push_back({{"name", "layer" + std::to_string(l)},
                    {"elements", elements},
                    {"forward_s_per_sample", seconds * share},
                    {"backward_s_per_sample", 2 * seconds * share}});
  }
  return ordered_json{{"schema_version", 1}, {"kind", "workload"}, {"name", "drawn"},
                      {"source", "assumed"}, {"note", "drawn"},    {"update_s", 1e-3},
                      {"layers", rows}}
      .dump();
}

ordered_json network_of(Draws& draws, PredictionRegime regime) {
  if (regime == PredictionRegime::kMobile)
    return {{"topology", "star"},
            {"link", {{"bandwidth", "10Mbps"}, {"delay", with_unit(draws.uniform(10, 40), "ms")}}},
            {"server_link", {{"bandwidth", "10Gbps"}, {"delay", "1ms"}}},
            {"traces",
             {{"up", {"traces/walk.up", "traces/train.up"}},
              {"down", {"traces/walk.down", "traces/train.down"}},
              {"offset", with_unit(draws.uniform(0.7, 3), "s")}}}};
  const bool lossy = regime == PredictionRegime::kLossy;
  const double rate = lossy ? draws.log_uniform(50e6, 1e9) : draws.log_uniform(100e6, 25e9);
  const double delay = lossy ? draws.log_uniform(50e-6, 5e-3) : draws.log_uniform(5e-6, 1e-3);
  ordered_json link = {{"bandwidth", with_unit(rate, "bps")},
                       {"delay", with_unit(delay * 1e6, "us")}};
  if (lossy) link["loss"] = draws.log_uniform(5e-4, 1e-2);
  return {{"topology", "star"}, {"link", link}};
}

PredictionCase drawn_case(std::uint64_t seed, PredictionRegime regime, int number) {
  Draws draws(seed, kRegimes + static_cast<std::uint32_t>(regime), number);
  const bool clean = regime == PredictionRegime::kClean,
             packet = regime == PredictionRegime::kPacket;
  const Kind& kind = kKinds[static_cast<std::size_t>(number) % kKinds.size()];
  // 1,024 workers that gather send each message a million times: segment by segment under loss.
  const bool gathers = &kind == &kKinds[1] && !packet;
  const double bytes = clean     ? draws.log_uniform(4e6, 1e8)
                       : gathers ? draws.log_uniform(2.5e5, 1e6)
                                 : draws.log_uniform(1e6, 4e6);
  PredictionCase drawn;
  drawn.regime = regime;
  drawn.exchange = kind.exchange;
  drawn.codec = kind.codecs[static_cast<std::size_t>(number / 3) % kind.codecs.size()];
  drawn.table = table_of(draws, bytes);
  ordered_json network = network_of(draws, regime);
  if (&kind != &kKinds[2]) network.erase("server_link");
  drawn.name = drawn.exchange + " " + drawn.codec + " " + with_unit(bytes / 1e6, " MB ") +
               network.at("link").dump();
  drawn.scenario = ordered_json{
      {"schema_version", 1},
      {"name", "drawn"},
      {"workload", {{"profile", "@TABLE@"}, {"batch_per_worker", kBatch}}},
      {"method", {{"name", drawn.codec}}},
      {"cluster", {{"workers", "@WORKERS@"}, {"device", "v100"}}},
      {"network", network},
      {"exchange",
       {{"collective", kind.collective}, {"overlap", draws.chance(0.7)}, {"bucket", "8MB"}}},
      {"executor", packet ? "packet" : "flow"},
      {"seeds",
       ordered_json{
           1}}}.dump();
  return drawn;
}

/// Networks and collectives by turns, each with each.
PredictionCase unequal_case(std::uint64_t seed, PredictionRegime regime, int number) {
  Draws draws(seed, kRegimes + static_cast<std::uint32_t>(regime), number);
  constexpr std::array<const char*, 5> kCollectives = {"ring", "tree", "halving-doubling",
                                                       "two-level", "parameter-server"};
  constexpr std::array<const char*, 3> kCodecs = {"none", "fp16", "terngrad"};
  const bool lossy = regime == PredictionRegime::kUnequalLossy;
  const auto kind = static_cast<UnequalNetwork::Kind>(number % UnequalNetwork::kKinds);
  const auto turn =
      static_cast<std::size_t>(number) + static_cast<std::size_t>(number / UnequalNetwork::kKinds);
  // Where flows share a queue flow follows their packets, loss or not.
  const double bytes = lossy ? draws.log_uniform(5e5, 3e6) : draws.log_uniform(1e6, 1e7);
  const double bucket = bytes / draws.integer(1, 4);
  const UnequalNetwork network = draw_network(draws, kind, lossy);
  PredictionCase drawn;
  drawn.regime = regime;
  drawn.exchange = kCollectives[turn % kCollectives.size()];
  drawn.codec = kCodecs[static_cast<std::size_t>(number / 3) % kCodecs.size()];
  drawn.table = table_of(draws, bytes);
  drawn.workers = std::llround(draws.log_uniform(4, 64));
  const bool served = drawn.exchange == "parameter-server";
  drawn.network = [network, served](int workers) {
    return network.for_workers(workers, served).dump();
  };
  drawn.name = network.name() + " " + drawn.exchange + " " + drawn.codec + " " +
               with_unit(bytes / 1e6, " MB");
  ordered_json exchange = {{"collective", drawn.exchange},
                           {"overlap", draws.chance(0.7)},
                           {"bucket", std::to_string(std::llround(bucket)) + "B"}};
  if (drawn.exchange == "two-level")
    exchange["group"] = kind == UnequalNetwork::Kind::kGpuNodes ? network.per_node : 4;
  drawn.scenario =
      ordered_json{{"schema_version", 1},
                   {"name", "drawn"},
                   {"workload", {{"profile", "@TABLE@"}, {"batch_per_worker", kBatch}}},
                   {"method", {{"name", drawn.codec}}},
                   {"cluster", {{"workers", "@WORKERS@"}, {"device", "v100"}}},
                   {"network", "@NETWORK@"},
                   {"exchange", exchange},
                   {"executor", "flow"},
                   {"seeds", ordered_json{1}}}
          .dump();
  return drawn;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  GRADWIRE_ASSERT(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

/// Few workers' steps are cheap, and the fit rests on them. On traces, steps go through a minute.
int steps_of(PredictionRegime regime, int workers) {
  if (is_exact(regime)) return workers <= kManyWorkers ? kExactSteps : kManyExactSteps;
  if (workers > kManyWorkers) return 3;
  if (regime == PredictionRegime::kMobile) return workers <= kFewWorkers ? 200 : 40;
  // Windows shrink during the first steps.
  return workers <= kFewWorkers || is_unequal(regime) ? 25 : 7;
}

/// Where chance decides, steps are simulated until their mean is known. Many workers' vary little.
runner::StepSampling sampling_of(PredictionRegime regime, int workers) {
  runner::StepSampling sampling;
  sampling.steps = steps_of(regime, workers);
  sampling.settled = is_exact(regime);
  sampling.wanted_error = kWantedError;
  sampling.most_work = kMostWork;
  if ((regime != PredictionRegime::kLossy && regime != PredictionRegime::kUnequalLossy) ||
      workers > kManyWorkers)
    return sampling;
  sampling.least_seeds = kLeastSeeds;
  sampling.most_seeds = kMostSeeds;
  return sampling;
}

}  // namespace

bool is_unequal(PredictionRegime regime) {
  return regime == PredictionRegime::kUnequal || regime == PredictionRegime::kUnequalLossy;
}

bool is_exact(PredictionRegime regime) {
  return regime == PredictionRegime::kClean || regime == PredictionRegime::kPacket ||
         regime == PredictionRegime::kUnequal;
}

std::string_view name_of(PredictionRegime regime) {
  constexpr std::array<std::string_view, 6> kNames = {"clean",  "lossy",         "mobile",
                                                      "packet", "unequal.clean", "unequal.lossy"};
  return kNames[static_cast<std::size_t>(regime)];
}

std::vector<PredictionCase> prediction_cases(std::uint64_t seed, PredictionRegime regime,
                                             int count) {
  std::vector<PredictionCase> cases;
  cases.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    cases.push_back(is_unequal(regime) ? unequal_case(seed, regime, i)
                                       : drawn_case(seed, regime, i));
  return cases;
}

scenarios::Scenario scenario_of(const PredictionCase& given, const std::string& table_file,
                                int workers) {
  std::string text = replaced(given.scenario, "@TABLE@", table_file);
  text = replaced(text, "\"@WORKERS@\"", std::to_string(workers));
  if (given.network) text = replaced(text, "\"@NETWORK@\"", given.network(workers));
  const auto file = scenarios::read_scenario_text(text, scenarios::share_folder() + "/drawn.json");
  return file.runs.front();
}

results::StepPoint simulate_step(const PredictionCase& given, const std::string& table_file,
                                 int workers, std::uint64_t first_seed,
                                 const runner::StepChanges& changes, double work) {
  runner::StepSampling sampling = sampling_of(given.regime, workers);
  sampling.first_seed = first_seed;
  sampling.most_work *= work;
  results::StepPoint simulated =
      runner::mean_step(scenario_of(given, table_file, workers), sampling, changes);
  simulated.name = given.name + ", " + std::to_string(workers) + " workers";
  return simulated;
}

}  // namespace gradwire::bench
