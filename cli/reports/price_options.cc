#include "cli/reports/price_options.h"

#include <charconv>
#include <cmath>

#include "base/exact_text.h"

namespace gradwire::cli {
namespace {

struct PriceOption {
  const char* name;
  const char* help;
  std::optional<double> PriceArguments::*value;
};

constexpr PriceOption kOptions[] = {
    {"--gpu-hour", "Price of a worker's GPU, an hour", &PriceArguments::gpu_hour},
    {"--port-hour", "Price of a network port, an hour", &PriceArguments::port_hour},
    {"--gigabyte", "Price of a GB (10^9 B) that is sent", &PriceArguments::gigabyte},
    {"--ports-per-worker", "Network ports of a worker (1)", &PriceArguments::ports_per_worker},
    {"--epoch-samples", "Samples of an epoch (default: costs are of a million samples)",
     &PriceArguments::epoch_samples},
};

}  // namespace

std::vector<CLI::Option*> add_price_options(CLI::App& command, PriceArguments& arguments) {
  const CLI::Validator at_least_zero(
      [](const std::string& text) {
        double value = 0;
        const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool whole = status == std::errc{} && end == text.data() + text.size();
        return whole && std::isfinite(value) && value >= 0
                   ? std::string()
                   : "it is a number of 0 or more, not " + text;
      },
      "NONNEGATIVE");
  std::vector<CLI::Option*> options;
  for (const PriceOption& option : kOptions)
    options.push_back(command.add_option(option.name, arguments.*option.value, option.help)
                          ->check(at_least_zero));
  options.push_back(command.add_option("--currency", arguments.currency, "Of the prices (USD)"));
  return options;
}

results::CostOptions costs_of(const PriceArguments& arguments, results::CostOptions costs) {
  results::Prices& prices = costs.prices;
  prices.gpu_hour = arguments.gpu_hour.value_or(prices.gpu_hour);
  prices.port_hour = arguments.port_hour.value_or(prices.port_hour);
  prices.gigabyte = arguments.gigabyte.value_or(prices.gigabyte);
  prices.ports_per_worker = arguments.ports_per_worker.value_or(prices.ports_per_worker);
  costs.epoch_samples = arguments.epoch_samples.value_or(costs.epoch_samples);
  costs.currency = arguments.currency.value_or(costs.currency);
  return costs;
}

std::vector<std::pair<std::string, std::string>> price_texts(const PriceArguments& arguments) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const PriceOption& option : kOptions)
    if (arguments.*option.value)
      texts.emplace_back(option.name, exact_text(*(arguments.*option.value)));
  if (arguments.currency) texts.emplace_back("--currency", *arguments.currency);
  return texts;
}

}  // namespace gradwire::cli
