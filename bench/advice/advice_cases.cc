#include "bench/advice/advice_cases.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/file_descriptor.h"
#include "bench/fidelity/case_parts.h"
#include "scenarios/share.h"

namespace gradwire::bench {
namespace {

using nlohmann::ordered_json;

constexpr std::uint32_t kAdviceDraws = 200;
constexpr double kFrameworkFactor = 100;

/// The shipped profile with codec times multiplied.
std::string device_json(const std::string& name, double factor) {
  const std::string file = scenarios::share_folder() + "/profiles/" + name + ".json";
  ordered_json device = ordered_json::parse(read_file(file));
  const ordered_json leaves = device.flatten();
  for (const auto& [pointer, value] : leaves.items()) {
    const bool cost = pointer.starts_with("/codecs/") || pointer.starts_with("/decorators/");
    if (cost && value.is_number())
      device[ordered_json::json_pointer(pointer)] = factor * value.get<double>();
  }
  return device.dump();
}

struct Drawn {
  std::string model, device, precision;
  int workers = 0, batch = 0;
  double rate = 0, delay = 0, factor = 1;  ///< bits/s, s
};

AdviceCase made(const Drawn& drawn) {
  AdviceCase one;
  one.workers = drawn.workers;
  one.device = device_json(drawn.device, drawn.factor);
  one.name = drawn.model + " " + drawn.precision + " batch " + std::to_string(drawn.batch) +
             " on " + drawn.device + (drawn.factor > 1 ? " (slow codecs)" : "") + ", " +
             std::to_string(drawn.workers) + " workers, " + with_unit(drawn.rate / 1e9, " Gbps, ") +
             with_unit(drawn.delay * 1e6, " us");
  one.scenario = ordered_json{
      {"schema_version", 1},
      {"name", "advice"},
      {"workload",
       {{"profile", drawn.model},
        {"batch_per_worker", drawn.batch},
        {"precision", drawn.precision}}},
      {"cluster", {{"workers", drawn.workers}, {"device", "@DEVICE@"}}},
      {"network",
       {{"topology", "star"},
        {"link",
         {{"bandwidth", with_unit(drawn.rate, "bps")},
          {"delay", with_unit(drawn.delay * 1e6, "us")}}}}},
      {"executor", "flow"},
      {"seeds", {1}}}.dump();
  return one;
}

}  // namespace

std::vector<AdviceCase> advice_cases(std::uint64_t seed, int count, int most_workers) {
  constexpr std::array<const char*, 2> kModels = {"resnet50", "vgg16"};
  constexpr std::array<int, 3> kBatches = {16, 32, 64};
  std::vector<AdviceCase> cases;
  for (int i = 0; i < count; ++i) {
    Draws draws(seed, kAdviceDraws, i);
    Drawn drawn;
    drawn.model = kModels[static_cast<std::size_t>(i % 2)];
    drawn.factor = i / 2 % 2 == 0 ? 1 : kFrameworkFactor;
    drawn.workers = static_cast<int>(draws.log_uniform(8, most_workers + 0.999));
    drawn.rate = draws.log_uniform(1e9, 100e9);
    drawn.delay = draws.log_uniform(2e-6, 50e-6);
    drawn.batch = kBatches[static_cast<std::size_t>(draws.integer(0, 2))];
    drawn.precision = draws.chance(0.5) ? "fp32" : "fp16";
    drawn.device = draws.chance(0.5) ? "v100" : "a100";
    cases.push_back(made(drawn));
  }
  return cases;
}

AdviceCase gather_rule_case(int workers, double rate) {
  return made({"resnet50", "v100", "fp32", workers, 32, rate, 10e-6, 1});
}

}  // namespace gradwire::bench
