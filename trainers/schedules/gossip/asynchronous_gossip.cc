#include "trainers/schedules/gossip/asynchronous_gossip.h"

#include <algorithm>

#include "trainers/schedules/work_builder.h"

namespace gradwire::trainers {
namespace {

using scenarios::Session;
using sim::Lane;
using sim::OpKind;

/// Steps whose gradients are computed side by side.
constexpr std::size_t kStepsAhead = 16;

}  // namespace

AsynchronousGossip::AsynchronousGossip(const scenarios::Scenario& scenario,
                                       const scenarios::TrainerOptions& options,
                                       std::unique_ptr<DataSet> data, std::unique_ptr<Model> model)
    : EventTrainer(scenario, options, std::move(data), std::move(model)),
      mixing_(scenarios::gossip_mixing(scenario)),
      models_(learner_, mixing_),
      workers_(static_cast<std::size_t>(learner_.workers())),
      edges_(mixing_.edges().size()),
      edges_of_(workers_.size()),
      change_(models_.weights(0).size()) {
  for (std::size_t e = 0; e < edges_.size(); ++e)
    edges_of_[static_cast<std::size_t>(mixing_.edges()[e].from)].push_back(e);
}

scenarios::Work AsynchronousGossip::passes_of(int worker) const {
  const scenarios::ComputeProfile& profile = learner_.profile();
  WorkBuilder builder;
  sim::OpIndex last = 0;
  const auto add = [&](const std::string& label, Seconds time, bool first) {
    const std::vector<sim::OpIndex> after = first ? std::vector<sim::OpIndex>{} : std::vector{last};
    last = builder.operation(OpKind::kCompute, Lane::kCompute, worker, label,
                             time * slowdown(worker), after);
  };
  add("forward", profile.forward, true);
  for (std::size_t b = 0; b < profile.buckets.size(); ++b)
    add("backward b" + std::to_string(b), profile.buckets[b].backward, false);
  add("update", profile.update, false);
  return builder.finish();
}

scenarios::Work AsynchronousGossip::one_operation(int worker, OpKind kind, const char* label,
                                                  Seconds time) const {
  WorkBuilder builder;
  builder.operation(kind, Lane::kCodec, worker, label, time * slowdown(worker));
  return builder.finish();
}

void AsynchronousGossip::submit(int w, scenarios::Work work, Session& session) {
  at(w).graph = session.submit(std::move(work));
  owners_[at(w).graph] = {false, static_cast<std::size_t>(w)};
}

void AsynchronousGossip::start(Session& session) {
  GRADWIRE_ASSERT(learner_.has_profile());
  if (trains_ahead_) beside_ = std::make_unique<BesideClock>(learner_);
  for (int w = 0; w < learner_.workers(); ++w) start_step(w, session);
}

void AsynchronousGossip::start_step(int w, Session& session) {
  Worker& worker = at(w);
  worker.stage = Stage::kComputing;
  worker.computed = false;
  worker.order = started_++;
  submit(w, passes_of(w), session);
  if (beside_) begin_pass(w, session.now());
}

void AsynchronousGossip::on(const sim::Event& event, Session& session) {
  if (rows_ == steps_total()) return;  // the last row came at this instant
  if (beside_) beside_->close_ready(session);
  const auto found = owners_.find(event.op.graph);
  if (found == owners_.end()) return;  // given up at this instant
  const auto [edge, number] = found->second;
  if (event.kind == sim::EventKind::kTransferFailed) return give_up(number, session);
  if (event.kind != sim::EventKind::kGraphEnded) return;
  owners_.erase(found);
  ended_.push_back(event.op.graph);
  if (edge) return arrive(number, session);
  const int w = static_cast<int>(number);
  switch (at(w).stage) {
    case Stage::kComputing:
      return finish_pass(w, session);
    case Stage::kEncoding:
      return wait(w, session);
    case Stage::kMixing:
      return finish_step(w, session);
    case Stage::kWaiting:
      GRADWIRE_ASSERT(false);  // nothing of it is under way
  }
}

void AsynchronousGossip::compute_ahead(int due) {
  std::vector<int> others;
  for (int w = 0; w < learner_.workers(); ++w)
    if (w != due && at(w).stage == Stage::kComputing && !at(w).computed) others.push_back(w);
  std::ranges::sort(others, {}, [this](int w) { return at(w).order; });
  others.resize(std::min(others.size(), kStepsAhead - 1));
  others.insert(others.begin(), due);
  learner_.pool().run(static_cast<int>(others.size()), [&](int item, int thread) {
    compute(others[static_cast<std::size_t>(item)], thread);
  });
}

void AsynchronousGossip::compute(int w, int thread) {
  Worker& worker = at(w);
  worker.gradient.resize(models_.weights(w).size());
  worker.loss = models_.pass(w, thread, worker.step, worker.gradient);
  worker.computed = true;
}

void AsynchronousGossip::begin_pass(int w, Seconds now) {
  Seconds time = learner_.profile().forward + learner_.profile().update;
  for (const auto& bucket : learner_.profile().buckets) time += bucket.backward;
  beside_->begin_pass(w, now + time * slowdown(w), [this, w](int thread) { compute(w, thread); });
}

void AsynchronousGossip::finish_pass(int w, Session& session) {
  Worker& worker = at(w);
  if (beside_)
    beside_->wait_for_pass(w);
  else if (!worker.computed)
    compute_ahead(w);
  models_.update(w, rows_, worker.gradient);
  worker.learned = worker.step;
  std::vector<std::size_t> chosen;
  const int encoded = choose_messages(w, chosen);
  std::vector<sim::CrossEdge> after;
  if (encoded > 0) {
    Seconds time{0};
    for (const auto& bucket : learner_.profile().buckets) time += bucket.encode;
    worker.stage = Stage::kEncoding;
    submit(w, one_operation(w, OpKind::kEncode, "encode", time * static_cast<double>(encoded)),
           session);
    after.push_back({{worker.graph, 0}, 0});
  }
  for (const std::size_t e : chosen) {
    edges_[e].sent_made = session.now();
    send(e, after, session);
  }
  if (encoded == 0) wait(w, session);
}

int AsynchronousGossip::choose_messages(int w, std::vector<std::size_t>& chosen) {
  const Worker& worker = at(w);
  models_.encode(w, 0, worker.step);
  int encoded = models_.plain() || mixing_.edges().empty() ? 0 : 1;
  for (const std::size_t e : edges_of_[static_cast<std::size_t>(w)]) {
    Edge& edge = edges_[e];
    if (edge.lost) continue;
    if (edge.busy) {
      edge.all = false;
      ++left_out_;
      continue;
    }
    if (models_.says_differences() && edge.known.empty())
      edge.known.resize(models_.weights(w).size());
    if (edge.all || !models_.says_differences()) {
      const auto whole = models_.message(w);
      edge.message.assign(whole.begin(), whole.end());
    } else {
      edge.message = models_.message_to(edge.known, w, worker.step);
      ++encoded;
    }
    edge.busy = true;
    edge.sent = worker.step;
    chosen.push_back(e);
  }
  return encoded;
}

void AsynchronousGossip::send(std::size_t e, const std::vector<sim::CrossEdge>& after,
                              Session& session) {
  const sim::MixingEdge& ends = mixing_.edges()[e];
  Edge& edge = edges_[e];
  WorkBuilder builder;
  const sim::OpIndex message = builder.transfer(
      ends.from, ends.to, "message", Bytes(static_cast<std::int64_t>(edge.message.size())));
  if (keeps_payloads_) builder.hold(message, edge.message);
  scenarios::Work work = builder.finish();
  work.after = after;
  edge.graph = session.submit(std::move(work));
  owners_[edge.graph] = {true, e};
}

void AsynchronousGossip::arrive(std::size_t e, Session& session) {
  Edge& edge = edges_[e];
  edge.known.resize(models_.weights(0).size());
  models_.hear(edge.message, edge.known);
  edge.version = edge.sent;
  edge.made = edge.sent_made;
  edge.busy = false;
  ++row_.messages;
  row_.payload += Bytes(static_cast<std::int64_t>(edge.message.size()));
  go_on(ends_at(e), session);
}

void AsynchronousGossip::give_up(std::size_t e, Session& session) {
  Edge& edge = edges_[e];
  edge.lost = true;
  edge.busy = false;
  owners_.erase(edge.graph);
  session.cancel(edge.graph);
  session.drop(edge.graph);
  go_on(ends_at(e), session);
}

bool AsynchronousGossip::hears_all(int w) const {
  const auto [first, end] = edges_into(w);
  const std::int64_t step = workers_[static_cast<std::size_t>(w)].step;
  return std::all_of(edges_.begin() + static_cast<std::ptrdiff_t>(first),
                     edges_.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](const Edge& edge) { return edge.lost || edge.version >= step; });
}

void AsynchronousGossip::wait(int w, Session& session) {
  const Seconds patience = *choice().patience;
  if (patience == Seconds(0) || hears_all(w)) return mix(w, session);
  Worker& worker = at(w);
  worker.stage = Stage::kWaiting;
  worker.graph = 0;
  session.wake_at(
      session.now() + patience,
      static_cast<std::uint64_t>(worker.step) * workers_.size() + static_cast<std::uint64_t>(w));
}

void AsynchronousGossip::go_on(int w, Session& session) {
  if (at(w).stage == Stage::kWaiting && hears_all(w)) mix(w, session);
}

void AsynchronousGossip::on_wake(std::uint64_t token, Session& session) {
  if (rows_ == steps_total()) return;
  const int w = static_cast<int>(token % workers_.size());
  const auto step = static_cast<std::int64_t>(token / workers_.size());
  if (at(w).stage == Stage::kWaiting && at(w).step == step) mix(w, session);
}

void AsynchronousGossip::mix(int w, Session& session) {
  const auto [first, end] = edges_into(w);
  std::vector<std::span<const float>> known;
  double heard = models_.plain() ? 0 : 1;  // its own, as all others decode it
  for (std::size_t e = first; e < end; ++e) {
    Edge& edge = edges_[e];
    edge.used = edge.version;
    edge.used_made = edge.made;
    known.emplace_back();
    if (edge.version < 0) continue;
    known.back() = edge.known;
    ++heard;
  }
  models_.mix_alone(w, rows_, known, change_);
  Seconds time{0};
  if (!mixing_.edges().empty())
    for (const auto& bucket : learner_.profile().buckets) time += bucket.aggregate * heard;
  at(w).stage = Stage::kMixing;
  submit(w, one_operation(w, OpKind::kAggregate, "mix", time), session);
}

}  // namespace gradwire::trainers
