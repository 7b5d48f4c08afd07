#include "runner/profile_cache.h"

namespace gradwire::runner {

std::string profile_key(const scenarios::Scenario& s, const scenarios::Trainer& trainer) {
  const auto chosen = trainer.collective_choice().candidates;
  const std::string& collective =
      chosen.empty() ? s.exchange.collective : chosen.front().collective;
  std::string key = s.workload.profile + "/" + s.workload.model + "/" + s.workload.data_set + "/" +
                    std::to_string(s.workload.batch_per_worker) + "/" + s.cluster.device + "/" +
                    std::to_string(s.exchange.bucket.count()) + "/" + collective + "/" +
                    std::to_string(s.cluster.workers) + "/";
  return key + (s.json.contains("method") ? s.json["method"].dump() : s.method.name);
}

}  // namespace gradwire::runner
