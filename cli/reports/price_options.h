#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"
#include "results/advice/cost.h"

namespace gradwire::cli {

/// Prices on the command line; what is not given is as the scenario's `prices` say.
struct PriceArguments {
  std::optional<double> gpu_hour, port_hour, gigabyte, ports_per_worker, epoch_samples;
  std::optional<std::string> currency;
};

/// Adds them; the options, for who groups them.
std::vector<CLI::Option*> add_price_options(CLI::App& command, PriceArguments& arguments);
/// The scenario's, with those of the command line in their place.
results::CostOptions costs_of(const PriceArguments& arguments, results::CostOptions scenario);
/// As options of a command line: {"--gpu-hour", "2.5"}, ...
std::vector<std::pair<std::string, std::string>> price_texts(const PriceArguments& arguments);

}  // namespace gradwire::cli
