#include "scenarios/fields/scenario_rows.h"

namespace gradwire::scenarios {
namespace {

Field price_row(const char* name, const char* help) {
  return {.pointer = std::string("/prices/") + name,
          .spec = {.type = OptionType::kNumber, .default_text = "0", .help = help, .min = 0},
          .unit = "of the currency"};
}

}  // namespace

void add_prices(Rows& rows) {
  const std::size_t first = rows.size();
  rows.push_back(object_row("/prices",
                            "What training costs, for reports and advice; options of commands go "
                            "before it. What is not given is free."));
  rows.back().optional = true;
  rows.push_back(price_row("gpu_hour", "A worker's GPU, an hour."));
  rows.push_back(price_row("port_hour", "A network port, an hour."));
  rows.push_back(price_row("gigabyte", "A GB (10^9 B) that is sent."));
  rows.push_back({.pointer = "/prices/ports_per_worker",
                  .spec = {.type = OptionType::kNumber,
                           .default_text = "1",
                           .help = "Network ports of a worker.",
                           .min = 0},
                  .unit = "ports"});
  rows.push_back(
      {.pointer = "/prices/epoch_samples",
       .spec = {.type = OptionType::kInteger,
                .help = "Samples of an epoch; without it costs are of a million samples.",
                .min = 1,
                .max = 1e15},
       .unit = "samples"});
  rows.push_back({.pointer = "/prices/currency",
                  .spec = {.type = OptionType::kText,
                           .default_text = "USD",
                           .help = "Of the prices; for people."}});
  // They change no run: the same runs serve other prices.
  for (std::size_t i = first; i < rows.size(); ++i) {
    rows[i].sweepable = false;
    rows[i].free_of_hash = true;
  }
}

}  // namespace gradwire::scenarios
