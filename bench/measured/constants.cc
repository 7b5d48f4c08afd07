#include "bench/measured/constants.h"

#include <cmath>

namespace gradwire::bench {
namespace {

struct Prior {
  const char* name;
  double value;
  double deviation;  // of the logarithm
};

// In the order of Constant. Efficiencies of large products as vendors' libraries reach them; host
// and step costs as frameworks' profiles show them, known to a factor of about 1.6.
constexpr Prior kPriors[kConstants] = {
    {"matrix products, fp32", 0.85, 0.2},
    {"convolutions, fp32", 0.8, 0.25},
    {"Winograd", 1.6, 0.25},
    {"matrix products, tensor cores", 0.7, 0.3},
    {"convolutions, tensor cores", 0.45, 0.3},
    {"memory", 0.85, 0.1},
    {"tile", 0.5, 0.7},
    {"traffic", 1.3, 0.4},
    {"host", 25e-6, 0.7},
    {"step", 4e-3, 0.8},
    {"parallel", 8e-3, 0.8},
    {"exposed", 0.8, 0.6},
    {"update", 1.5, 0.5},
    {"fp8", 1.5, 0.2},
    {"compiled", 0.6, 0.3},
};

}  // namespace

std::vector<results::Unknown> constant_unknowns() {
  std::vector<results::Unknown> unknowns;
  for (const Prior& prior : kPriors)
    unknowns.push_back({prior.name, std::log(prior.value), std::log(prior.value), prior.deviation});
  return unknowns;
}

Constants constants_at(std::span<const double> logarithms) {
  Constants constants;
  for (std::size_t i = 0; i < kConstants; ++i) constants[i] = std::exp(logarithms[i]);
  return constants;
}

}  // namespace gradwire::bench
