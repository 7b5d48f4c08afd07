#include "trainers/schedules/gossip/gossip_trainer.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/hash.h"
#include "base/serial.h"
#include "sim/graph/interpreter.h"
#include "sim/graph/payloads.h"
#include "trainers/routes/set_exchange.h"
#include "trainers/schedules/checkpoint.h"
#include "trainers/schedules/kept_model.h"
#include "trainers/schedules/memory_use.h"

namespace gradwire::trainers {
namespace {

/// Carries each worker's part of a message to those that it sends to. Whoever receives it has the
/// sender's bytes, of which GossipModels has made one copy for all.
class GossipMover final : public sim::DataHandler {
 public:
  /// `kept`: what is moved goes there, too; null: nowhere.
  GossipMover(const GossipModels& models, std::size_t bucket, sim::Payloads* kept)
      : models_(models), bucket_(bucket), kept_(kept) {}
  std::span<const std::byte> send(int host, sim::OpIndex, const sim::HopTransfer&,
                                  sim::ChunkRange) override {
    return models_.message(host, bucket_);
  }
  void receive(int, sim::OpIndex op, const sim::HopTransfer& hop, sim::ChunkRange,
               std::span<const std::byte> payload) override {
    GRADWIRE_ASSERT(payload.data() == models_.message(hop.source_rank, bucket_).data());
    moved_ += Bytes(static_cast<std::int64_t>(payload.size()));
    if (kept_) kept_->add(op, hop, payload);
  }
  Bytes moved() const { return moved_; }

 private:
  const GossipModels& models_;
  std::size_t bucket_;
  sim::Payloads* kept_;
  Bytes moved_{0};
};

}  // namespace

GossipTrainer::GossipTrainer(const scenarios::Scenario& scenario,
                             const scenarios::TrainerOptions& options,
                             std::unique_ptr<DataSet> data, std::unique_ptr<Model> model)
    : learner_(scenario, options, std::move(data), std::move(model), ReplicaWeights::kPlaced),
      keeps_payloads_(options.keeps_payloads),
      mixing_(scenarios::gossip_mixing(scenario)),
      models_(learner_, mixing_),
      losses_(static_cast<std::size_t>(learner_.workers())) {}

const scenarios::ComputeProfile& GossipTrainer::prepare() {
  if (graph_) return learner_.profile();  // frozen times were given
  // What a worker does with a message is what a server does: it decodes and adds it up.
  scenarios::Scenario one = learner_.scenario();
  one.cluster.workers = 1;
  one.exchange.collective = "parameter-server";
  StateStore states;
  const auto timed = make_set_exchange(one, learner_.method(), 0, learner_.layout(), states);
  learner_.prepare(*timed);
  make_step();
  return learner_.profile();
}

void GossipTrainer::use_profile(const scenarios::ComputeProfile& profile) {
  learner_.use_profile(profile);
  make_step();
}

void GossipTrainer::make_step() {
  graph_ = std::make_unique<GossipStep>(mixing_, learner_.layout(), !models_.plain(),
                                        learner_.scenario().exchange.overlap);
}

bool GossipTrainer::learns() const {
  return step_ < steps_total() - learner_.scenario().schedule.final_mixing;
}

bool GossipTrainer::next(scenarios::StepPlan& plan) {
  GRADWIRE_ASSERT(graph_ != nullptr);
  if (step_ == steps_total()) return false;
  run_step(plan);
  fill(plan);
  ++step_;
  return true;
}

void GossipTrainer::run_step(scenarios::StepPlan& plan) {
  const bool learned = learns();
  learner_.pool().run(learner_.workers(), [&](int worker, int thread) {
    if (learned) losses_[static_cast<std::size_t>(worker)] = models_.learn(worker, thread, step_);
    models_.encode(worker, thread, step_);
  });
  move_messages(plan);
  last_.outcome = models_.mix_all(step_, learned);
  drift_ = std::max(drift_, last_.outcome.drift);
}

void GossipTrainer::move_messages(scenarios::StepPlan& plan) {
  plan.bytes.assign(graph_->graph()->bytes_begin.back(), Bytes(0));
  plan.payload = Bytes(0);
  const auto payloads = keeps_payloads_ ? std::make_shared<sim::Payloads>() : nullptr;
  plan.payloads = payloads;
  for (std::size_t b = 0; graph_->sends() && b < learner_.layout().buckets().size(); ++b) {
    const sim::OpIndex op = graph_->gossip(b);
    const std::span<Bytes> sizes = std::span(plan.bytes)
                                       .subspan(graph_->graph()->bytes_begin[op],
                                                static_cast<std::size_t>(learner_.workers()));
    for (int w = 0; w < learner_.workers(); ++w)
      sizes[static_cast<std::size_t>(w)] =
          Bytes(static_cast<std::int64_t>(models_.message(w, b).size()));
    GossipMover mover(models_, b, payloads.get());
    sim::interpret(*graph_->graph(), op, sizes, mover);
    plan.payload += mover.moved();
  }
  const std::size_t edges = mixing_.edges().size();
  last_.edge_bytes =
      edges == 0 ? 0 : static_cast<double>(plan.payload.count()) / static_cast<double>(edges);
}

void GossipTrainer::fill(scenarios::StepPlan& plan) {
  plan.step = step_;
  plan.graph = graph_->graph();
  plan.seconds =
      graph_->seconds(learner_.profile(), learner_.scenario().cluster.slowdown, learns());
  plan.dense_payload = models_.channel().plain_bytes() * std::ssize(mixing_.edges());
  plan.loss = 0;
  Hasher hasher;
  hasher.add(chain_);
  for (const double loss : losses_) {
    plan.loss += loss / static_cast<double>(losses_.size());
    hasher.add(loss);
  }
  hasher.add(static_cast<std::uint64_t>(plan.payload.count()));
  for (const Bytes bytes : plan.bytes) hasher.add(static_cast<std::uint64_t>(bytes.count()));
  chain_ = hasher.value();
  plan.after = graph_->edges_from(last_graph_);
  rows_[step_] = last_;
}

void GossipTrainer::on_submitted(const scenarios::StepPlan&, sim::GraphId graph) {
  last_graph_ = graph;
}

std::vector<scenarios::Figure> GossipTrainer::on_step_ended(const scenarios::StepPlan& plan,
                                                            const scenarios::StepOutcome&) {
  const Row row = rows_.at(plan.step);
  rows_.erase(plan.step);
  return {{"consensus_distance", row.outcome.distance},
          {"mean_drift", row.outcome.drift},
          {"edge_bytes", row.edge_bytes, "B"}};
}

std::vector<scenarios::Figure> GossipTrainer::figures() const {
  std::vector<scenarios::Figure> figures = {
      {"consensus_distance", last_.outcome.distance},
      {"mean_drift", drift_},
      {"edge_bytes", last_.edge_bytes, "B"},
      {"spectral_gap", mixing_.spectral_gap()},
      {"gossip_edges", static_cast<double>(mixing_.edges().size()), "edges"}};
  if (!local_accuracy_.empty()) {
    const auto count = static_cast<double>(local_accuracy_.size());
    const double sum = std::accumulate(local_accuracy_.begin(), local_accuracy_.end(), 0.0);
    figures.push_back({"local_accuracy_mean", sum / count});
    figures.push_back({"local_accuracy_worst", *std::ranges::min_element(local_accuracy_)});
  }
  std::ranges::move(memory_figures(learner_, {.optimizer_bytes = models_.optimizer_bytes(),
                                              .worker_bytes = models_.method_bytes()}),
                    std::back_inserter(figures));
  return figures;
}

scenarios::Evaluation GossipTrainer::evaluate() {
  if (step_ == steps_total() && local_accuracy_.empty()) score_locals();
  models_.take_mean();
  return learner_.evaluate();
}

std::vector<std::byte> GossipTrainer::model_file() {
  models_.take_mean();
  return keep_model(learner_, learner_.weights());
}

scenarios::Evaluation GossipTrainer::evaluate_file(std::span<const std::byte> file,
                                                   std::string_view subject) {
  return evaluate_kept(learner_, file, subject);
}

void GossipTrainer::score_locals() {
  for (int w = 0; w < learner_.workers(); ++w)
    local_accuracy_.push_back(learner_.evaluate(models_.weights(w)).accuracy);
}

std::uint64_t GossipTrainer::learning_hash() const {
  Hasher hasher;
  hasher.add(chain_);
  for (int w = 0; w < learner_.workers(); ++w) hasher.add_bytes(std::as_bytes(models_.weights(w)));
  return hasher.value();
}

void GossipTrainer::save(std::ostream& out) const {
  save_checked(out, [this](std::ostream& content) {
    learner_.save(content);
    put_span(content, std::span<const double>(losses_));
    models_.save(content);
    put(content, step_);
    put(content, chain_);
    put(content, last_graph_.value_or(0));
    put(content, last_);
    put(content, drift_);
    put_span(content, std::span<const double>(local_accuracy_));
    put<std::uint64_t>(content, rows_.size());
    for (const auto& [step, row] : rows_) {
      put(content, step);
      put(content, row);
    }
  });
}

void GossipTrainer::load(std::istream& in) {
  load_checked(in, [this](std::istream& content) {
    learner_.load(content);
    losses_ = get_vector<double>(content);
    if (losses_.size() != static_cast<std::size_t>(learner_.workers()))
      refuse_checkpoint("it has another number of workers");
    models_.load(content);
    step_ = get<std::int64_t>(content);
    chain_ = get<std::uint64_t>(content);
    last_graph_ = get<sim::GraphId>(content);
    if (last_graph_ == 0) last_graph_.reset();
    last_ = get<Row>(content);
    drift_ = get<double>(content);
    local_accuracy_ = get_vector<double>(content);
    rows_.clear();
    for (auto left = get<std::uint64_t>(content); left > 0; --left) {
      const auto step = get<std::int64_t>(content);
      rows_[step] = get<Row>(content);
    }
  });
}

}  // namespace gradwire::trainers
