#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

/// Tables of what others measured, one configuration a row. Columns that this module does not know
/// are left alone; docs/validation/measured.md lists them.
namespace gradwire::bench {

/// A step of data-parallel training.
struct MeasuredStep {
  std::string source, workload, device;
  std::string precision = "fp32";
  std::string sharding, checkpointing, method;  ///< empty = none
  bool compiled = false;                        ///< its note says torch.compile: kernels are fused
  bool fused_batch_norm = false;                ///< its note says so: with the ReLU behind it
  bool pre_training = false;  ///< its note says so: BERT has a head over the vocabulary
  int layers = 0, hidden = 0, heads = 0, sequence = 0, vocabulary = 0;  ///< of a transformer
  int workers = 1;
  int gpus_per_node = 1;
  BitsPerSecond between_nodes{0};  ///< of one node's adapters together; 0 = one node
  int batch = 1;                   ///< samples of a forward pass of one worker
  int accumulated = 1;             ///< such passes a step
  int local_steps = 1;
  double memory_bytes_per_second = 0;  ///< of this board; 0 = the device's data sheet
  double power_limit_watts = 0;        ///< of this board; 0 = the device's data sheet
  Seconds time{0};                     ///< measured, of one step
};

/// A collective, one time.
struct MeasuredCollective {
  std::string source, collective, device;
  int workers = 2;
  int gpus_per_node = 1;
  BitsPerSecond between_nodes{0};  ///< of one node's adapters together; 0 = one node
  Bytes bytes{0};
  Seconds time{0};
};

struct MeasuredTables {
  std::vector<MeasuredStep> steps;
  std::vector<MeasuredCollective> collectives;
};

/// Adds the rows of a table, which has a column `collective` or a column `workload`. Throws Error
/// naming file, line and column.
void read_measured(std::string_view text, const std::string& file, MeasuredTables& tables);

/// The tables that ship.
MeasuredTables shipped_measured();

}  // namespace gradwire::bench
