#include "results/prediction/device_kin.h"

#include <map>

namespace gradwire::results {
namespace {

/// Empty where it is not known.
std::string generation_of(const std::string& device) {
  static const std::map<std::string, std::string> generations = {
      {"k80", "kepler"},  {"m40", "maxwell"},     {"p100", "pascal"},
      {"p40", "pascal"},  {"gtx-1080", "pascal"}, {"gtx-1080-ti", "pascal"},
      {"v100", "volta"},  {"t4", "turing"},       {"rtx-2080-ti", "turing"},
      {"a100", "ampere"}, {"a10", "ampere"},      {"a30", "ampere"},
      {"a40", "ampere"},  {"a6000", "ampere"},    {"rtx-3090", "ampere"},
      {"l4", "ada"},      {"l40s", "ada"},        {"rtx-4090", "ada"},
      {"h100", "hopper"}, {"b200", "blackwell"},  {"mi300x", "cdna3"}};
  const auto found = generations.find(chip_of(device));
  return found == generations.end() ? "" : found->second;
}

}  // namespace

std::string chip_of(const std::string& device) {
  static const std::map<std::string, std::string> boards = {
      {"a100-80gb", "a100"}, {"h100-pcie", "h100"}, {"h200", "h100"}, {"v100-pcie", "v100"}};
  const auto found = boards.find(device);
  return found == boards.end() ? device : found->second;
}

int device_distance(const std::string& one, const std::string& other) {
  if (one == other) return 0;
  if (chip_of(one) == chip_of(other)) return 1;
  const std::string generation = generation_of(one);
  return !generation.empty() && generation == generation_of(other) ? 2 : 3;
}

}  // namespace gradwire::results
