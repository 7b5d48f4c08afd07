#pragma once
#include <cstdint>
#include <string>
#include <vector>

/// Cases of `bench advice`: real models on drawn clusters.
namespace gradwire::bench {

struct AdviceCase {
  std::string name;
  std::string scenario;  ///< JSON; "@DEVICE@" stands for the file of its device profile
  std::string device;    ///< JSON of that profile
  int workers = 0;
};

/// ResNet-50 and VGG-16 by turns, 8 to `most_workers` workers, 1 to 100 Gbps, 2 to 50 us a link,
/// batches of 16 to 64, fp32 and fp16 passes; a V100 or an A100. Codec times: the profile's, which
/// are bounds by memory traffic, in every second pair of cases 100 times those, about what
/// frameworks' own operations take (docs/models/devices.md).
std::vector<AdviceCase> advice_cases(std::uint64_t seed, int count, int most_workers);

/// One model and device at a rate (bits/s), codec times as in the profile.
AdviceCase gather_rule_case(int workers, double rate);

}  // namespace gradwire::bench
