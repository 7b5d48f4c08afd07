#pragma once
#include <memory>
#include <string_view>

#include "sim/cluster/cluster.h"
#include "sim/session/executor.h"

namespace gradwire::sim {

/// "model", "flow" or "packet". Throws Error(kCapability) if that executor is not built, with the
/// reason. (The emulator's lives in emulator/.)
std::unique_ptr<Executor> make_executor(std::string_view name, const Cluster& cluster,
                                        const ExecutorOptions& options);

}  // namespace gradwire::sim
