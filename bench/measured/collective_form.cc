#include "bench/measured/collective_form.h"

#include <cmath>

#include "base/error.h"

namespace gradwire::bench {
namespace {

constexpr double kLargeMessage = 2 << 20;  // bytes at which protocols change
constexpr double kNvlinkRing = 22.5e9;     // bytes/s: 25 GB/s less headers and flags

/// Rings without a common link, [GPUs - 2].
constexpr double kDgx1Rings[] = {1, 2, 4, 1.65, 2, 4, 6};

}  // namespace

double node_bytes_per_second(const std::string& device, int workers) {
  GRADWIRE_ASSERT(workers >= 1);
  if (device == "v100")
    return kNvlinkRing * (workers > 8 ? 6 : kDgx1Rings[workers < 2 ? 0 : workers - 2]);
  if (device == "a100") return 230e9;
  if (device == "h100") return 360e9;
  if (device == "h200") return 480e9;
  if (device == "b200") return 800e9;
  return 0;
}

std::string why_no_collective_form(const MeasuredCollective& one) {
  if (one.collective != "all-reduce") return one.collective + " is not in this form";
  if (one.workers > one.gpus_per_node) return "it spans several nodes";
  if (node_bytes_per_second(one.device, one.workers) == 0)
    return "the bandwidth between GPUs of a node of " + one.device + " is not known";
  return "";
}

std::vector<results::Unknown> collective_unknowns() {
  return {{"floor", std::log(30e-6), std::log(30e-6), 0.5},
          {"large protocol", std::log(30e-6), std::log(30e-6), 0.8},
          {"bandwidth", 0, 0, 0.2}};
}

Seconds collective_time(const MeasuredCollective& one, std::span<const double> logarithms) {
  const auto bytes = static_cast<double>(one.bytes.count());
  const double bandwidth = node_bytes_per_second(one.device, one.workers) * std::exp(logarithms[2]);
  const double large = 1 - std::exp(-bytes / kLargeMessage);
  return Seconds(std::exp(logarithms[0]) + std::exp(logarithms[1]) * large +
                 ring_share(one.workers) * bytes / bandwidth);
}

}  // namespace gradwire::bench
