#include "trainers/schedules/rounds/rounds_trainer.h"

#include <algorithm>

#include "trainers/schedules/work_builder.h"
#include "trainers/timing/compute_times.h"

namespace gradwire::trainers {
namespace {

using scenarios::Session;

/// What a client's codec takes, or adding its message at the server.
Seconds total(const scenarios::ComputeProfile& profile,
              Seconds scenarios::ComputeProfile::Bucket::*time) {
  Seconds sum{0};
  for (const auto& bucket : profile.buckets) sum += bucket.*time;
  return sum;
}

}  // namespace

RoundsTrainer::RoundsTrainer(const scenarios::Scenario& scenario,
                             const scenarios::TrainerOptions& options,
                             std::unique_ptr<DataSet> data, std::unique_ptr<Model> model)
    : EventTrainer(scenario, options, std::move(data), std::move(model)),
      clients_(up_.state_bytes(), {options.memory, options.states_folder}),
      benches_(static_cast<std::size_t>(learner_.pool().threads())) {
  for (Bench& bench : benches_) {
    bench.gradients = learner_.make_gradients();
    bench.change.resize(learner_.weights().size());
  }
  if (choice().server_momentum > 0) velocity_.resize(learner_.weights().size());
  const methods::Method& method = learner_.method();
  uploads_.resize(learner_.layout().tensors().size());
  for (const BucketSlot& bucket : learner_.layout().buckets())
    for (std::size_t t = bucket.first_tensor; t < bucket.end_tensor; ++t)
      uploads_[t] = {bucket.set, method.plan(bucket.set, 0).weights_up};
  if (method.plan(0, 0).down)
    broadcast_.emplace(TensorChannel(plans_down(method, 0), learner_.layout(), scenario.seed),
                       method.stored_messages(), server());
}

Seconds RoundsTrainer::training_time(int client) const {
  const scenarios::ComputeProfile& profile = learner_.profile();
  using Bucket = scenarios::ComputeProfile::Bucket;
  const Seconds step = profile.forward + total(profile, &Bucket::backward) + profile.update;
  return step * static_cast<double>(local_steps(client));
}

void RoundsTrainer::start(Session& session) {
  begin_round(session);
}

/// What the last round's end changed becomes a message before anyone downloads it.
void RoundsTrainer::submit_broadcast(Session& session) {
  encoded_.reset();
  if (!broadcast_ || broadcast_->version() == 0 || !new_message_) return;
  WorkBuilder builder;
  builder.operation(sim::OpKind::kEncode, sim::Lane::kCodec, server(), "encode",
                    total(learner_.profile(), &scenarios::ComputeProfile::Bucket::encode));
  encoded_ = session.submit(builder.finish());
}

void RoundsTrainer::add_trip(int client, bool away, bool records) {
  Trip& trip = trips_[next_trip_++];
  trip.client = client;
  trip.round = round_;
  trip.drops_out = away;
  trip.records = records;
  trip.download = up_.plain_bytes();
  if (broadcast_) {
    const auto held = held_.find(client);
    const Broadcast::Download download =
        broadcast_->download(held == held_.end() ? std::nullopt : std::optional(held->second));
    trip.version = broadcast_->version();
    trip.download = download.bytes;
    trip.messages = download.messages;
  }
  busy_.insert(client);
}

std::vector<std::byte> RoundsTrainer::download_of(const Trip& trip) const {
  if (trip.messages > 0) return broadcast_->latest(trip.messages);
  const auto model = std::as_bytes(std::span(sent_.at(trip.round)));
  return {model.begin(), model.end()};
}

void RoundsTrainer::submit_training(Trip& trip, std::int64_t number, Session& session) {
  using Bucket = scenarios::ComputeProfile::Bucket;
  const auto& slowdown = learner_.scenario().cluster.slowdown;
  const double factor = slowdown[static_cast<std::size_t>(trip.client)];
  WorkBuilder builder;
  std::vector<sim::OpIndex> before;
  if (trip.download > Bytes(0)) {
    before = {builder.transfer(server(), trip.client, "download", trip.download)};
    if (keeps_payloads_) builder.hold(before.front(), download_of(trip));
  }
  if (trip.messages > 0)
    before = {builder.operation(
        sim::OpKind::kDecode, sim::Lane::kCodec, trip.client, "catch up",
        total(learner_.profile(), &Bucket::decode) * factor * static_cast<double>(trip.messages),
        before)};
  const sim::OpIndex trained =
      builder.operation(sim::OpKind::kCompute, sim::Lane::kCompute, trip.client, "local training",
                        training_time(trip.client) * factor, before);
  if (!trip.drops_out && !up_.plain())
    builder.operation(sim::OpKind::kEncode, sim::Lane::kCodec, trip.client, "encode",
                      total(learner_.profile(), &Bucket::encode) * factor, {trained});
  scenarios::Work work = builder.finish();
  if (encoded_ && trip.download > Bytes(0)) work.after.push_back({{*encoded_, 0}, 0});
  trip.graphs.push_back(session.submit(std::move(work)));
  trip_of_[trip.graphs.back()] = number;
}

void RoundsTrainer::submit_upload(Trip& trip, std::int64_t number, Session& session) {
  WorkBuilder builder;
  const Bytes size(static_cast<std::int64_t>(trip.update->message.size()));
  const sim::OpIndex up = builder.transfer(trip.client, server(), "upload", size);
  if (keeps_payloads_) builder.hold(up, trip.update->message);
  builder.operation(sim::OpKind::kAggregate, sim::Lane::kCodec, server(), "aggregate",
                    total(learner_.profile(), &scenarios::ComputeProfile::Bucket::aggregate), {up});
  trip.graphs.push_back(session.submit(builder.finish()));
  trip_of_[trip.graphs.back()] = number;
}

void RoundsTrainer::on(const sim::Event& event, Session& session) {
  using sim::EventKind;
  if (event.kind != EventKind::kGraphEnded && event.kind != EventKind::kTransferFailed) return;
  const auto found = trip_of_.find(event.op.graph);
  if (found == trip_of_.end()) return;  // cut off at this instant
  const std::int64_t number = found->second;
  Trip& trip = trips_.at(number);
  const bool trained = event.kind == EventKind::kGraphEnded && trip.stage == Stage::kTraining;
  if (trained && broadcast_) held_[trip.client] = trip.version;
  if (event.kind == EventKind::kTransferFailed) {
    session.cancel(event.op.graph);
    trip.stage = Stage::kFailed;
  } else if (trip.stage == Stage::kUploading) {
    arrive(number);
    close_if_complete(session);
  } else if (trained && !trip.drops_out) {
    if (!trip.update) train_ahead(trip);
    trip.stage = Stage::kUploading;
    submit_upload(trip, number, session);
  }
}

void RoundsTrainer::arrive(std::int64_t number) {
  Trip& trip = trips_.at(number);
  trip.stage = Stage::kArrived;
  clients_.accept(trip.client);
  busy_.erase(trip.client);
  ++now_.arrived;
  if (trip.round != round_) ++now_.arrived_late;
}

void RoundsTrainer::close_if_complete(Session& session) {
  const auto under_way = std::ranges::count_if(
      trips_, [](const auto& each) { return each.second.stage != Stage::kArrived; });
  if (buffers() && now_.arrived < choice().buffer && under_way > 0) return;
  if (buffers()) return close_round(session);
  for (const auto& [number, trip] : trips_)
    if (trip.round == round_ && trip.stage != Stage::kArrived) return;
  if (now_.busy > 0 && now_.arrived == now_.arrived_late) return;  // nobody of its own: wait
  close_round(session);
}

void RoundsTrainer::on_wake(std::uint64_t token, Session& session) {
  if (token == (kBeginsLater | static_cast<std::uint64_t>(round_))) return begin_round(session);
  if (token == static_cast<std::uint64_t>(round_)) close_round(session);
}

void RoundsTrainer::cut_off_late(bool last, Session& session, std::vector<std::int64_t>& over) {
  for (auto& [number, trip] : trips_) {
    if (trip.stage == Stage::kArrived) continue;
    // At the end of the run nobody is late for a buffer.
    const bool late = trip.round == round_ && !trip.drops_out && !(last && buffers());
    if (late) ++now_.late;
    const bool goes_on = keeps_late() && !last && !trip.drops_out && trip.stage != Stage::kFailed;
    if (goes_on) continue;
    session.cancel(trip.graphs.back());
    if (trip.graphs.size() == 2) lose(trip);
    busy_.erase(trip.client);
    over.push_back(number);
  }
}

/// The upload has begun, and never arrived.
void RoundsTrainer::lose(const Trip& trip) {
  if (!learner_.method().keeps_lost_work()) return;
  clients_.amend(trip.client,
                 [&](std::span<std::byte> state) { up_.take_back(state, trip.update->message); });
  clients_.accept(trip.client);
}

void RoundsTrainer::close_round(Session& session) {
  const bool last = round_ + 1 == steps_total();
  std::vector<std::int64_t> over;
  for (const auto& [number, trip] : trips_)
    if (trip.stage == Stage::kArrived) over.push_back(number);
  update_model();
  cut_off_late(last, session, over);
  if (encoded_) session.cancel(*encoded_);
  std::ranges::sort(over);
  scenarios::StepReport report = report_of(over, session);
  forget(over);
  all_.add(now_);
  const int every = learner_.scenario().workload.evaluate_every;
  if ((round_ + 1) % every == 0 || last) report.evaluation = learner_.evaluate();
  if (last) measure_fairness();
  ++round_;
  session.close(std::move(report));
  if (!last) begin_round(session);
}

void RoundsTrainer::forget(const std::vector<std::int64_t>& trips) {
  for (const std::int64_t number : trips) {
    const Trip& trip = trips_.at(number);
    for (const sim::GraphId graph : trip.graphs) trip_of_.erase(graph);
    if (trip.stage != Stage::kArrived) clients_.discard(trip.client);
    trips_.erase(number);
  }
  std::set<std::int64_t> needed;
  for (const auto& [number, trip] : trips_) needed.insert(trip.round);
  std::erase_if(sent_, [&](const auto& each) { return needed.count(each.first) == 0; });
}

}  // namespace gradwire::trainers
