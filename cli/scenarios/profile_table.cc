#include "cli/scenarios/profile_table.h"

#include "cli/output/table.h"

namespace gradwire::cli {
namespace {

using Style = Column::Style;
using Layer = scenarios::WorkloadProfile::Layer;

Cell seconds(Seconds time) {
  return time.value();
}

/// Of a row without times: its parameters and operations are counted.
Cell times_or_counts(bool times) {
  return std::string(times ? "measured" : "counted");
}

void add_layer(const Layer& layer, int batch, Table& table) {
  const Cell none;
  table.add({layer.name, std::string("layer"), layer.kind, layer.elements, layer.flops,
             layer.activations, layer.has_times ? seconds(layer.forward_per_sample * batch) : none,
             layer.has_times ? seconds(layer.backward_per_sample * batch) : none, none, none, none,
             layer.has_times ? Cell(layer.spread) : none, times_or_counts(layer.has_times)});
}

void add_buckets(const scenarios::ComputeProfile& profile, Table& table) {
  const Cell none;
  for (const auto& bucket : profile.buckets)
    table.add({bucket.name, std::string("bucket"), none, bucket.elements, none, none, none,
               seconds(bucket.backward), seconds(bucket.encode), seconds(bucket.decode),
               seconds(bucket.aggregate), none, times_or_counts(true)});
}

}  // namespace

void print_model_profile(const trainers::ModelProfileResult& result, int batch,
                         const scenarios::ComputeProfile* buckets, const Context& context) {
  Table table({{"name"},
               {"part"},
               {.name = "kind", .importance = Importance::kLow},
               {"elements", "parameters", Style::kPlain, Importance::kHigh},
               {"flops_per_sample", "FLOPs a sample"},
               {"activations_per_sample", "activations a sample", Style::kPlain, Importance::kLow},
               {"forward_s", "forward", Style::kDuration, Importance::kHigh},
               {"backward_s", "backward", Style::kDuration, Importance::kHigh},
               {"encode_s", "encode", Style::kDuration},
               {"decode_s", "decode", Style::kDuration},
               {"aggregate_s", "aggregate", Style::kDuration},
               {"spread", "spread", Style::kPercent},
               {.name = "provenance", .importance = Importance::kLow}});
  std::int64_t flops = 0, activations = 0;
  for (const Layer& layer : result.table.layers) {
    add_layer(layer, batch, table);
    flops += layer.flops;
    activations += layer.activations;
  }
  if (buckets) add_buckets(*buckets, table);
  const Cell none;
  const bool measured = result.repetitions > 0;
  if (measured)
    table.add({std::string("update"), std::string("update"), none, result.table.elements(), none,
               none, none, seconds(*result.table.update), none, none, none, none,
               times_or_counts(true)});
  table.add({std::string("all layers"), std::string("pass"), none, result.table.elements(), flops,
             activations, measured ? seconds(result.forward) : none,
             measured ? seconds(result.backward) : none, none, none, none,
             measured ? Cell(result.spread) : none, times_or_counts(measured)});
  table.print(context);
}

void print_device_profile(const scenarios::DeviceProfile& profile, const Context& context) {
  Table table({{"name"},
               {.name = "part", .importance = Importance::kKey},
               {"encode_fixed_s", "encode", Style::kDuration},
               {"encode_s_per_element", "encode, s an element"},
               {"decode_fixed_s", "decode", Style::kDuration},
               {"decode_s_per_element", "decode, s an element"},
               {"rate", "FLOP/s or B/s"},
               {"efficiency"},
               {.name = "provenance", .importance = Importance::kLow}});
  const Cell none;
  const Cell here = std::string("measured");
  for (const auto& [name, codec] : profile.codecs)
    table.add({name, std::string("codec"), seconds(codec.encode.fixed),
               codec.encode.per_element.value(), seconds(codec.decode.fixed),
               codec.decode.per_element.value(), none, none, here});
  for (const auto& [precision, compute] : profile.peak->compute)
    table.add({precision, std::string("peak"), none, none, none, none, compute.flops_per_second,
               compute.efficiency, here});
  table.add({std::string("memory"), std::string("peak"), none, none, none, none,
             profile.peak->memory_bytes_per_second, none, here});
  table.print(context);
}

}  // namespace gradwire::cli
