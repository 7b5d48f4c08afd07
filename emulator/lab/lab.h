#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "emulator/shaper/wire_plan.h"
#include "sim/cluster/cluster.h"

/// The lab: transfers of the kernel's own TCP between network namespaces, over links that a process
/// of ours makes (rate, delay, loss, queue; emulator/shaper/link_process.h). It takes real time. It
/// is the reference that `flow`'s constants for Linux are held against (docs/validation/linux.md).
///
/// Limits: wires of a constant rate, full duplex, without jitter; IPv4, frames of 1,514 bytes; a
/// clock that is as good as LabResult says: late_99 beyond kMostLate spoils a measurement.
namespace gradwire::emulator {

/// s: frames that leave later than this, one in a hundred, are no measurement.
inline constexpr double kMostLate = 1e-3;

/// Transfers of one ordered pair of hosts, one after the other, on one connection.
struct LabChain {
  int source = 0;
  int destination = 1;
  Bytes bytes{0};
};

/// What one process of the lab does: transfers over wires.
struct LabPlan : WirePlan {
  std::vector<LabChain> chains;
  int repeats = 1;
  Seconds gap{0};         ///< from a transfer's end to the next one's start
  bool together = false;  ///< all chains start a repeat together, when all have ended the last
  std::string congestion_control = "cubic";
  Bytes buffer{8 * 1024 * 1024};
  Seconds limit{60};  ///< of real time; what has not ended by then is left out
};

struct LabResult {
  struct Transfer {
    double start = -1;  ///< s, of one clock; < 0: never
    double end = -1;
  };
  std::vector<std::vector<Transfer>> transfers;  ///< [chain][repeat]
  std::vector<std::int64_t> retransmissions;     ///< by chain
  /// By repeat, where repeats are taken together or there is one chain: s, how late the latest
  /// frame left the links during it.
  std::vector<double> late_in;
  double late_50 = 0;  ///< s: how late frames left the links
  double late_99 = 0;
  double late_most = 0;
  std::int64_t frames = 0;
  std::int64_t dropped = 0;  ///< by queues
  std::int64_t lost = 0;     ///< on the way
  std::int64_t missed = 0;   ///< by the process itself: the measurement is spoilt
  std::string kernel;        ///< its release
  std::string priority;      ///< of the lab's process

  bool is_exact() const { return late_99 <= kMostLate && missed == 0; }
};

/// The plan of these chains over a cluster's links. Queues without a size are CoDel's, as the
/// packet executor sets it. Throws Error(kCapability) for links that the lab does not make.
LabPlan plan_lab(const sim::Cluster& cluster, std::span<const LabChain> chains,
                 const sim::TransportSettings& transport);

/// Runs it in a process of its own, `program` (empty: gradwire-emulator-hub beside this one).
/// Throws Error(kCapability) where namespaces are forbidden, with what to do.
LabResult run_lab(const LabPlan& plan, const std::string& program = {});

nlohmann::json to_json(const LabPlan& plan);
LabPlan lab_plan_from_json(const nlohmann::json& json);
nlohmann::json to_json(const LabResult& result);
LabResult lab_result_from_json(const nlohmann::json& json);

/// The process: plan on standard input, result on standard output. Returns its exit code.
int run_lab_process();

}  // namespace gradwire::emulator
