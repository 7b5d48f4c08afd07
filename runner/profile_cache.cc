#include "runner/profile_cache.h"

namespace gradwire::runner {

std::string profile_key(const scenarios::Scenario& s) {
  std::string key = s.workload.profile + "/" + s.workload.model + "/" + s.workload.data_set + "/" +
                    std::to_string(s.workload.batch_per_worker) + "/" + s.cluster.device + "/" +
                    std::to_string(s.exchange.bucket.count()) + "/" + s.exchange.collective + "/" +
                    std::to_string(s.cluster.workers) + "/";
  return key + (s.json.contains("method") ? s.json["method"].dump() : s.method.name);
}

}  // namespace gradwire::runner
