#pragma once
#include "cli/runs/run.h"

namespace gradwire::cli {

/// What commands that only predict take where no file is named: ResNet-50 on 16 V100s, each with a
/// link of 10 Gbps to one switch, uncompressed, by a ring. Every field can be --set.
inline constexpr const char* kPlainScenario = "ResNet-50 on 16 V100s, 10 Gbps to one switch";

/// The file that `arguments` name, or the plain scenario, with --set and --seed applied.
scenarios::ScenarioFile named_or_plain_scenario(const RunArguments& arguments);

}  // namespace gradwire::cli
