#include "trainers/schedules/asynchronous/asynchronous_trainer.h"

#include <algorithm>
#include <limits>

#include "base/hash.h"
#include "trainers/schedules/memory_use.h"
#include "trainers/schedules/whole_model.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

using scenarios::Session;
using sim::OpIndex;

/// Trips whose gradients are computed side by side. More would use more threads, and waste more
/// passes at the end of a run.
constexpr std::size_t kAhead = 16;

}  // namespace

AsynchronousTrainer::AsynchronousTrainer(const scenarios::Scenario& scenario,
                                         const scenarios::TrainerOptions& options,
                                         std::unique_ptr<DataSet> data,
                                         std::unique_ptr<Model> model)
    : EventTrainer(scenario, options, std::move(data), std::move(model)),
      updates_(learner_.scenario(), learner_.method(), learner_.layout()),
      benches_(static_cast<std::size_t>(learner_.pool().threads())),
      workers_(static_cast<std::size_t>(learner_.workers())),
      graphs_(workers_.size()) {
  if (up_.plain()) return;
  for (Bench& bench : benches_) {
    bench.gradients = learner_.make_gradients();
    bench.flat.resize(weights().size());
  }
}

void AsynchronousTrainer::start(Session& session) {
  GRADWIRE_ASSERT(learner_.has_profile());
  if (trains_ahead_) beside_ = std::make_unique<BesideClock>(learner_);
  start_waiting(session);
}

std::int64_t AsynchronousTrainer::most_trips() const {
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const Worker& worker : workers_)
    if (choice().most_stale && worker.stage != Stage::kLost)
      most = std::min(most, worker.trips + *choice().most_stale);
  return most;
}

void AsynchronousTrainer::start_waiting(Session& session) {
  const std::int64_t most = most_trips();
  for (int w = 0; w < learner_.workers(); ++w)
    if (at(w).stage == Stage::kWaiting && at(w).trips <= most) start_trip(w, session);
}

void AsynchronousTrainer::start_trip(int w, Session& session) {
  Worker& worker = at(w);
  worker.stage = Stage::kComputing;
  worker.computed = false;
  worker.version = version_;
  worker.order = started_++;
  worker.values.assign(weights().begin(), weights().end());
  worker.computing = session.submit(pull_and_passes(w));
  worker_of_[worker.computing] = w;
  if (beside_) begin_pass(w, session.now());
}

void AsynchronousTrainer::on(const sim::Event& event, Session& session) {
  if (version_ == steps_total()) return;  // the last row came at this instant
  if (beside_) beside_->close_ready(session);
  const auto found = worker_of_.find(event.op.graph);
  if (found == worker_of_.end()) return;  // lost at this instant
  const int w = found->second;
  const Worker& worker = at(w);
  if (event.kind == sim::EventKind::kTransferFailed) return lose(w, session);
  const bool computes = worker.stage == Stage::kComputing;
  if (computes && event.kind == sim::EventKind::kOperationEnded && event.op.op == trigger(w))
    return send(w, session);
  const bool sends = worker.stage == Stage::kSending && event.op.graph == worker.sending;
  if (sends && event.kind == sim::EventKind::kGraphEnded) apply(w, session);
}

void AsynchronousTrainer::send(int w, Session& session) {
  Worker& worker = at(w);
  if (beside_)
    beside_->wait_for_pass(w);
  else if (!worker.computed)
    compute_ahead(w);
  worker.stage = Stage::kSending;
  worker.sending = session.submit(messages_and_update(w));
  worker_of_[worker.sending] = w;
}

void AsynchronousTrainer::begin_pass(int w, Seconds now) {
  if (up_.plain()) at(w).gradients = take_spare();
  beside_->begin_pass(w, now + time_to_trigger(w), [this, w](int thread) { compute(w, thread); });
}

void AsynchronousTrainer::compute_ahead(int due) {
  std::vector<int> others;
  for (int w = 0; w < learner_.workers(); ++w)
    if (w != due && at(w).stage == Stage::kComputing && !at(w).computed) others.push_back(w);
  std::ranges::sort(others, {}, [this](int w) { return at(w).order; });
  others.resize(std::min(others.size(), kAhead - 1));
  others.insert(others.begin(), due);
  if (up_.plain())
    for (const int w : others) at(w).gradients = take_spare();
  learner_.pool().run(static_cast<int>(others.size()), [&](int item, int thread) {
    compute(others[static_cast<std::size_t>(item)], thread);
  });
}

void AsynchronousTrainer::compute(int w, int thread) {
  Worker& worker = at(w);
  Bench& bench = benches_[static_cast<std::size_t>(thread)];
  learner_.place(thread, worker.values);
  const bool records = w == 0;
  worker.messages.clear();
  if (up_.plain()) {
    worker.loss =
        learner_.pass_into(w, thread, worker.trips, worker.version, records, *worker.gradients,
                           [](const Gradients& own) { return all_finite(own); });
    for (const BucketSlot& bucket : learner_.layout().buckets())
      worker.messages.emplace_back(4 * bucket.count);
    if (keeps_payloads_) keep_gradients(worker);
  } else {
    worker.loss = learner_.pass_into(w, thread, worker.trips, worker.version, records,
                                     *bench.gradients, bench.flat);
    encode(worker, w, bench);
  }
  worker.computed = true;
}

void AsynchronousTrainer::encode(Worker& worker, int number, Bench& bench) {
  up_.encode(learner_.states(), number, worker.trips, bench.flat, bench.message);
  const auto payloads = up_.payloads(bench.message);
  std::ranges::fill(worker.values, 0.0f);
  for (std::size_t t = 0; t < payloads.size(); ++t) up_.add(t, payloads[t], 1, worker.values);
  // A bucket's part of the message ends with its last payload.
  const std::byte* begin = bench.message.data();
  for (const BucketSlot& bucket : learner_.layout().buckets()) {
    const std::byte* end =
        payloads[bucket.end_tensor - 1].data() + payloads[bucket.end_tensor - 1].size();
    worker.messages.emplace_back(end - begin);
    begin = end;
  }
  if (keeps_payloads_) worker.message = bench.message;
}

/// As they are sent: bucket by bucket, which is the layout's order.
void AsynchronousTrainer::keep_gradients(Worker& worker) const {
  worker.message.resize(static_cast<std::size_t>(4 * learner_.layout().elements()));
  const auto gradients = worker.gradients->tensors();
  for (std::size_t t = 0; t < gradients.size(); ++t)
    std::ranges::copy(std::as_bytes(gradients[t]),
                      worker.message.begin() + 4 * learner_.layout().tensors()[t].first);
}

GradientView AsynchronousTrainer::gradient_of(const Worker& worker) const {
  return worker.gradients ? GradientView(worker.gradients->tensors())
                          : GradientView(std::span<const float>(worker.values));
}

std::unique_ptr<Gradients> AsynchronousTrainer::take_spare() {
  if (spare_.empty()) return learner_.make_gradients();
  std::unique_ptr<Gradients> gradients = std::move(spare_.back());
  spare_.pop_back();
  return gradients;
}

void AsynchronousTrainer::apply(int w, Session& session) {
  Worker& worker = at(w);
  const std::int64_t staleness = version_ - worker.version;
  const double rate =
      learner_.rate(learner_.moment_at(version_)) * rate_factor(choice(), staleness);
  updates_.step(0, rate, gradient_of(worker), learner_.weights());
  if (worker.gradients) spare_.push_back(std::move(worker.gradients));
  ++worker.trips;
  staleness_.add(staleness);

  scenarios::StepReport report;
  report.step = version_++;
  report.graphs = {worker.computing, worker.sending};
  report.end = session.now();
  report.loss = worker.loss;
  report.payload = up_.plain_bytes();
  for (const Bytes message : worker.messages) report.payload += message;
  report.dense_payload = up_.plain_bytes() * 2;
  report.encoded_values = up_.plain_bytes();
  report.figures = {{"staleness", static_cast<double>(staleness), "updates"},
                    {"worker_of_update", static_cast<double>(w)}};
  Hasher hasher;
  hasher.add(chain_);
  hasher.add(static_cast<std::uint64_t>(w));
  hasher.add(static_cast<std::uint64_t>(staleness));
  hasher.add(worker.loss);
  hasher.add(static_cast<std::uint64_t>(report.payload.count()));
  chain_ = hasher.value();

  worker_of_.erase(worker.computing);
  worker_of_.erase(worker.sending);
  worker.stage = Stage::kWaiting;
  if (version_ < steps_total()) start_waiting(session);
  close_row(std::move(report), version_, beside_.get(), session);
}

void AsynchronousTrainer::lose(int w, Session& session) {
  Worker& worker = at(w);
  const bool sends = worker.stage == Stage::kSending;
  worker.stage = Stage::kLost;
  if (beside_ && !sends) beside_->wait_for_pass(w);
  worker.gradients.reset();
  for (const sim::GraphId graph : {worker.computing, worker.sending}) {
    if (graph == worker.sending && !sends) continue;
    session.cancel(graph);
    session.drop(graph);
    worker_of_.erase(graph);
  }
  if (std::ranges::all_of(workers_, [](const Worker& each) { return each.stage == Stage::kLost; }))
    throw TrainerError("train", "update " + std::to_string(version_),
                       "the transfers of all workers failed: they met the time limit or can never "
                       "finish",
                       "check the links' rates and losses, and who is absent");
  start_waiting(session);
}

std::vector<scenarios::Figure> AsynchronousTrainer::figures() const {
  const auto of = [](std::int64_t value) { return static_cast<double>(value); };
  const auto lost = std::ranges::count(workers_, Stage::kLost, &Worker::stage);
  std::vector<scenarios::Figure> figures = memory_figures(
      learner_,
      {.optimizer_bytes = updates_.state_bytes(), .server = true, .updates_at_server = true});
  figures.insert(figures.begin(), {{"staleness_mean", staleness_.mean(), "updates"},
                                   {"staleness_p50", of(staleness_.quantile(0.5)), "updates"},
                                   {"staleness_p90", of(staleness_.quantile(0.9)), "updates"},
                                   {"staleness_p99", of(staleness_.quantile(0.99)), "updates"},
                                   {"staleness_max", of(staleness_.largest()), "updates"},
                                   {"workers_lost", of(lost), "workers"}});
  return figures;
}

}  // namespace gradwire::trainers
