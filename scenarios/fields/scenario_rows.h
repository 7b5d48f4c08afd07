#pragma once
#include <vector>

#include "scenarios/fields/fields.h"

/// Parts of the scenario's table of fields; for scenario_fields*.cc alone.
namespace gradwire::scenarios {

using Rows = std::vector<Field>;

inline constexpr KindMask kTraining = mask_of(WorkloadKind::kTraining);
inline constexpr KindMask kProfile = mask_of(WorkloadKind::kProfile);
inline constexpr KindMask kSteps = kTraining | kProfile;
inline constexpr KindMask kCollective = mask_of(WorkloadKind::kCollective);
inline constexpr KindMask kTransfers = mask_of(WorkloadKind::kTransfers);
inline constexpr KindMask kPipeline = mask_of(WorkloadKind::kPipeline);
inline constexpr KindMask kFederated = mask_of(WorkloadKind::kFederated);
inline constexpr KindMask kRecording = mask_of(WorkloadKind::kRecording);
/// Those that are repeated.
inline constexpr KindMask kRepeated = kCollective | kPipeline | kFederated;
/// Those whose workers compute.
inline constexpr KindMask kComputing = kSteps | kRepeated | kRecording;

/// Rows of each shape.
Field object_row(std::string pointer, std::string help, KindMask kinds = kAllKinds);
Field list_row(std::string pointer, std::string help, KindMask kinds = kAllKinds);
Field text_row(std::string pointer, std::string help);

/// Workers of a group of a two-level all-reduce, for a collective named at `when`.
Field group_row(std::string pointer, KindMask kinds, Condition when);
/// Hosts of a parameter server; each has an equal part of `what`.
Field shards_row(std::string pointer, const std::string& what, KindMask kinds, Condition when);

void add_workload(Rows& rows);
void add_optimizer(Rows& rows);
void add_gossip(Rows& rows);
void add_pipeline(Rows& rows);
void add_federated(Rows& rows);
void add_work_schedule(Rows& rows);
void add_method(Rows& rows);
void add_cluster(Rows& rows);
/// Default texts of a link.
struct LinkDefaults {
  const char* bandwidth = "1Gbps";
  const char* delay = "50us";
};
/// The properties of a link, below `base`; the page of fields explains them at /network/link.
void add_link(Rows& rows, const std::string& base, const std::optional<Condition>& when,
              const LinkDefaults& defaults = {});
void add_topology(Rows& rows);
void add_network(Rows& rows);
void add_prices(Rows& rows);

}  // namespace gradwire::scenarios
