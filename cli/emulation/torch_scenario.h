#pragma once
#include <string>
#include <vector>

#include "scenarios/document/overrides.h"
#include "scenarios/scenario.h"

namespace gradwire::cli {

/// The network of a PyTorch script's ranks: a file that is a scenario's network, or a scenario, of
/// which `network`, `cluster` and `executor` are taken; or a network by name.
class TorchNetwork {
 public:
  /// Throws Error for a file that cannot be read, or that is no JSON object.
  explicit TorchNetwork(std::string file_or_name);

  /// Whether it is one of scenarios/networks/named_networks.h, whose links and transport the caller
  /// sets by overrides as for any scenario. A file of that name comes first.
  bool is_named() const { return named_; }

  /// What of the file counts for nothing, in words; may be empty.
  const std::string& unused() const { return unused_; }

  /// Throws what reading a scenario throws where the file does not describe a network for that many
  /// ranks (0: for as many workers as it says).
  void check(int ranks, const scenarios::Overrides& overrides) const;
  /// A scenario whose workload replays a recording.
  scenarios::Scenario scenario(const nlohmann::ordered_json& workload, int ranks,
                               const std::string& name,
                               const scenarios::Overrides& overrides) const;

 private:
  scenarios::Scenario read(const nlohmann::ordered_json& workload, int ranks,
                           const std::string& name, const scenarios::Overrides& overrides) const;

  bool named_ = false;
  std::string path_;
  nlohmann::ordered_json parts_;  ///< of a scenario
  std::string unused_;
};

}  // namespace gradwire::cli
