#include "bench/measured/columns.h"

#include <cctype>

#include "bench/measured/names.h"

namespace gradwire::bench {
namespace {

/// In lower case, runs of other signs as one "_".
std::string plain(const std::string& written) {
  std::string name;
  for (const char c : written) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  if (!name.empty() && name.back() == '_') name.pop_back();
  return name;
}

/// Other heads of columns, plain.
const std::map<std::string, std::string>& others() {
  static const std::map<std::string, std::string> names = {
      {"model", "workload"},
      {"gpu", "device"},
      {"gpu_type", "device"},
      {"gpu_model", "device"},
      {"accelerator", "device"},
      {"num_gpus", "gpus"},
      {"n_gpus", "gpus"},
      {"ngpus", "gpus"},
      {"world_size", "gpus"},
      {"ranks", "gpus"},
      {"nranks", "gpus"},
      {"gpus_per_host", "gpus_per_node"},
      {"internode_gbps", "inter_node_gbps"},
      {"local_batch", "batch_per_gpu"},
      {"local_batch_size", "batch_per_gpu"},
      {"batch_size_per_gpu", "batch_per_gpu"},
      {"per_gpu_batch", "batch_per_gpu"},
      {"per_gpu_batch_size", "batch_per_gpu"},
      {"micro_batch_size", "micro_batch"},
      {"global_batch_size", "global_batch"},
      {"dtype", "precision"},
      {"num_layers", "layers"},
      {"hidden_size", "hidden"},
      {"d_model", "hidden"},
      {"num_heads", "heads"},
      {"attention_heads", "heads"},
      {"num_attention_heads", "heads"},
      {"seq_len", "sequence"},
      {"seq_length", "sequence"},
      {"sequence_length", "sequence"},
      {"vocab", "vocabulary"},
      {"vocab_size", "vocabulary"},
      {"dp", "data_parallel"},
      {"data_parallel_size", "data_parallel"},
      {"tp", "tensor_parallel"},
      {"tensor_parallel_size", "tensor_parallel"},
      {"pp", "pipeline_parallel"},
      {"pipeline_parallel_size", "pipeline_parallel"},
      {"activation_checkpointing", "checkpointing"},
      {"operation", "collective"},
      {"size", "bytes"},
      {"size_b", "bytes"},
      {"size_bytes", "bytes"},
      {"message_bytes", "bytes"},
      {"time_microseconds", "time_us"},
      {"busbw", "busbw_gb_per_s"},
      {"busbw_gb_s", "busbw_gb_per_s"},
      {"bus_bw", "busbw_gb_per_s"},
      {"algbw", "algbw_gb_per_s"},
      {"algbw_gb_s", "algbw_gb_per_s"},
      {"alg_bw", "algbw_gb_per_s"},
  };
  return names;
}

}  // namespace

Columns::Columns(const results::CsvTable& table) {
  for (const std::string& written : table.columns()) written_.emplace(plain(written), written);
  const std::map<std::string, std::string> given = written_;
  for (const auto& [name, written] : given) {
    if (const auto found = others().find(name); found != others().end())
      written_.emplace(found->second, written);
    if (metric_.empty() && !given.contains("metric") && metric_named(written)) metric_ = written;
  }
  if (!metric_.empty()) written_.emplace("value", metric_);
}

const std::string& Columns::of(const std::string& name) const {
  const auto found = written_.find(name);
  return found == written_.end() ? name : found->second;
}

}  // namespace gradwire::bench
