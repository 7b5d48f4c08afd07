#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

/// Tables of what others measured, one configuration a row. Columns that this module does not know
/// are left alone; docs/validation/measured.md lists them.
namespace gradwire::bench {

/// A step of training.
struct MeasuredStep {
  std::string source, workload, device;
  std::string precision = "fp32";
  std::string sharding, checkpointing, method;  ///< empty = none
  bool compiled = false;                        ///< its note says torch.compile: kernels are fused
  bool fused_batch_norm = false;                ///< its note says so: with the ReLU behind it
  bool pre_training = false;  ///< its note says so: BERT has a head over the vocabulary
  int layers = 0, hidden = 0, heads = 0, sequence = 0, vocabulary = 0;  ///< of a transformer
  int workers = 1;  ///< data-parallel ones, each on so many GPUs as the next two say
  int tensor_parallel = 1, pipeline_parallel = 1;
  int gpus_per_node = 1;
  BitsPerSecond between_nodes{0};  ///< of one node's adapters together; 0 = one node
  int batch = 1;                   ///< samples of a forward pass of one worker; 0 = not stated
  bool micro_batch_stated = false;
  int accumulated = 1;  ///< such passes a step
  int local_steps = 1;
  double memory_bytes_per_second = 0;  ///< of this board; 0 = the device's data sheet
  double power_limit_watts = 0;        ///< of this board; 0 = the device's data sheet
  Seconds time{0};                     ///< measured, of one step
  std::string place = {};              ///< "FILE:LINE"
  std::string refused = {};            ///< why the row cannot be taken as it is; empty: it can

  std::int64_t gpus() const { return std::int64_t{workers} * tensor_parallel * pipeline_parallel; }
};

/// A collective, one time.
struct MeasuredCollective {
  std::string source, collective, device;
  int workers = 2;
  int gpus_per_node = 1;
  BitsPerSecond between_nodes{0};  ///< of one node's adapters together; 0 = one node
  Bytes bytes{0};
  Seconds time{0};
  std::string place = {}, refused = {};  ///< as of a step
};

struct MeasuredTables {
  std::vector<MeasuredStep> steps;
  std::vector<MeasuredCollective> collectives;
};

/// Adds the rows of a table, which has a column `collective` or a column `workload`. A row whose
/// cells cannot be taken is added with the reason. Throws Error naming file, line and column: no
/// table, or one without the columns that must be there.
void read_measured(std::string_view text, const std::string& file, MeasuredTables& tables);

/// The tables that ship.
MeasuredTables shipped_measured();
/// Throughputs of single GPUs that no constant is fitted to.
MeasuredTables held_out_measured();

}  // namespace gradwire::bench
