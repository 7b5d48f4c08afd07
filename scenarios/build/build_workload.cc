#include "scenarios/build/build_parts.h"
#include "trainers/updates/catalogue.h"

namespace gradwire::scenarios {
namespace {

using nlohmann::ordered_json;

void fill_stage(const ordered_json& json, Workload::Stage& stage) {
  take(json, "forward", stage.forward);
  take(json, "backward", stage.backward);
  take(json, "update", stage.update);
  take(json, "activations", stage.activations);
  if (json.contains("gradients")) take(json, "gradients", stage.gradients.emplace());
  take(json, "encode", stage.encode);
  take(json, "decode", stage.decode);
  take(json, "encode_gradients", stage.encode_gradients);
  take(json, "decode_gradients", stage.decode_gradients);
}

void fill_pipeline(const ordered_json& json, Workload::Pipeline& pipeline) {
  take(json, "schedule", pipeline.schedule);
  take(json, "micro_batches", pipeline.micro_batches);
  fill_stage(json, pipeline.stage);
  for (const ordered_json& each : member(json, "stages")) {
    pipeline.stages.push_back(pipeline.stage);
    fill_stage(each, pipeline.stages.back());
  }
}

void fill_federated(const ordered_json& json, Workload::Federated& federated) {
  take(json, "sample", federated.sample);
  take(json, "download", federated.download);
  take(json, "upload", federated.upload);
  take(json, "compute", federated.compute);
  take(json, "aggregate", federated.aggregate);
  take(json, "deadline", federated.deadline);
  take(json, "drop_out", federated.drop_out);
}

void fill_gossip(const ordered_json& json, Workload& workload) {
  take(json, "graph", workload.graph);
  take(json, "degree", workload.degree);
  for (const ordered_json& each : member(json, "edges")) {
    std::pair<int, int> edge;
    take(each, "a", edge.first);
    take(each, "b", edge.second);
    workload.edges.push_back(edge);
  }
}

void fill_schedule(const ordered_json& json, trainers::RateSchedule& schedule) {
  std::string shape = "constant", unit = "steps", scaling = "none";
  take(json, "name", shape);
  take(json, "unit", unit);
  take(json, "scaling", scaling);
  schedule.shape = trainers::shape_of(shape);
  schedule.in_epochs = unit == "epochs";
  schedule.scaling = trainers::scaling_of(scaling);
  take(json, "warm_up", schedule.warm_up);
  take(json, "warm_up_from", schedule.warm_up_from);
  for (const ordered_json& each : member(json, "milestones"))
    if (each.is_number()) schedule.milestones.push_back(each.get<double>());
  take(json, "factor", schedule.factor);
  take(json, "over", schedule.over);
  take(json, "final", schedule.final);
  take(json, "power", schedule.power);
  take(json, "time", schedule.time);
  take(json, "reference_batch", schedule.reference_batch);
}

void fill_optimizer(const ordered_json& json, Workload& workload) {
  take(json, "name", workload.optimizer);
  take(json, "lr", workload.learning_rate);
  take(json, "momentum", workload.momentum);
  take(json, "weight_decay", workload.weight_decay);
  const trainers::UpdateInfo* const row = trainers::find_update(workload.optimizer);
  for (const OptionSpec& option : row ? row->options : OptionTable{}) {
    if (option.name == "momentum" || option.name == "weight_decay") continue;
    if (json.contains(option.name))
      workload.optimizer_options[option.name] = option_text(json[option.name]);
  }
  fill_schedule(member(json, "schedule"), workload.rate_schedule);
}

void fill_partition(const ordered_json& json, Workload::Partition& partition) {
  take(json, "kind", partition.kind);
  take(json, "classes", partition.classes);
  take(json, "alpha", partition.alpha);
  take(json, "skew", partition.skew);
  take(json, "shards", partition.shards);
  take(json, "size_spread", partition.size_spread);
}

void fill_data(const ordered_json& json, Workload& workload) {
  for (const auto& [key, value] : json.items()) {
    if (key == "set")
      workload.data_set = value.get<std::string>();
    else if (key == "path")
      workload.data_path = value.get<std::string>();
    else if (key == "seed")
      workload.data_seed = value.get<std::uint64_t>();
    else if (key == "partition")
      fill_partition(value, workload.partition);
    else
      workload.data_options[key] = option_text(value);
  }
}

void fill_model(const ordered_json& json, Workload& workload) {
  take(json, "model", workload.model);
  if (json.contains("hidden")) workload.hidden.emplace();
  for (const ordered_json& each : member(json, "hidden"))
    if (each.is_number_integer()) workload.hidden->push_back(each.get<std::int64_t>());
  take(json, "activation", workload.activation);
  take(json, "bias", workload.bias);
  take(json, "normalisation", workload.normalisation);
  take(json, "embedding", workload.embedding);
  take(json, "heads", workload.heads);
  take(json, "model_file", workload.model_file);
  take(json, "loss", workload.loss);
  take(json, "checkpoint_activations", workload.checkpoint_activations);
}

void fill_training(const ordered_json& json, Workload& workload) {
  fill_model(json, workload);
  fill_data(member(json, "data"), workload);
  fill_optimizer(member(json, "optimizer"), workload);
  take(json, "evaluate_every", workload.evaluate_every);
  take(json, "micro_batches", workload.micro_batches);
  take(json, "target_accuracy", workload.target_accuracy);
}

void fill_collective(const ordered_json& json, Workload& workload) {
  take(json, "collective", workload.collective);
  take(json, "bytes", workload.collective_bytes);
  take(json, "group", workload.group);
  take(json, "shards", workload.shards);
  take(json, "repetitions", workload.repetitions);
  take(json, "compute", workload.compute);
}

void fill_transfers(const ordered_json& list, std::vector<Workload::Transfer>& transfers) {
  for (const ordered_json& each : list) {
    Workload::Transfer& transfer = transfers.emplace_back();
    take(each, "from", transfer.source);
    take(each, "to", transfer.destination);
    take(each, "bytes", transfer.bytes);
    take(each, "start", transfer.start);
  }
}

}  // namespace

void fill_workload(const ordered_json& json, Workload& workload) {
  for (std::size_t kind = 0; kind < kWorkloadKeys.size(); ++kind)
    if (json.contains(kWorkloadKeys[kind])) workload.kind = static_cast<WorkloadKind>(kind);
  take(json, "batch_per_worker", workload.batch_per_worker);
  take(json, "steps", workload.steps);
  take(json, "profile", workload.profile);
  take(json, "precision", workload.precision);
  fill_training(json, workload);
  fill_collective(json, workload);
  fill_gossip(json, workload);
  fill_pipeline(member(json, "pipeline"), workload.pipeline);
  fill_federated(member(json, "federated"), workload.federated);
  fill_transfers(member(json, "transfers"), workload.transfers);
  take(json, "recording", workload.recording);
  take(json, "compute_scale", workload.compute_scale);
  take(json, "alike", workload.alike);
  take(json, "backend", workload.backend);
}

}  // namespace gradwire::scenarios
