#pragma once
#include <string>

#include "scenarios/scenario.h"
#include "scenarios/share.h"

namespace gradwire::runner::testing {

/// Ring all-reduces of `bytes` among `workers` on a star of 1 Gbps, `delay` and `loss` a link.
inline scenarios::Scenario ring_scenario(const std::string& bytes, int workers,
                                         const std::string& delay, double loss, int repetitions) {
  const std::string text =
      R"({"schema_version": 1, "name": "r", "workload": {"collective": "ring-all-reduce",
          "bytes": ")" +
      bytes + R"(", "repetitions": )" + std::to_string(repetitions) +
      R"(}, "cluster": {"workers": )" + std::to_string(workers) +
      R"(}, "network": {"topology": "star", "link": {"bandwidth": "1Gbps", "delay": ")" + delay +
      R"(", "loss": )" + std::to_string(loss) + R"(}}, "executor": "flow", "seeds": [1]})";
  return scenarios::read_scenario_text(text, scenarios::share_folder() + "/r.json").runs.at(0);
}

}  // namespace gradwire::runner::testing
