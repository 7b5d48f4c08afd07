#include "trainers/schedules/rounds_trainer.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string>

#include "base/hash.h"
#include "trainers/replays/client_sampling.h"
#include "trainers/schedules/memory_use.h"
#include "trainers/schedules/whole_model.h"
#include "trainers/schedules/work_builder.h"
#include "trainers/timing/compute_times.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

using scenarios::Session;

/// Of wake-ups: the round, which nobody could begin, begins then.
constexpr std::uint64_t kBeginsLater = std::uint64_t{1} << 63;

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

std::int64_t RoundsTrainer::local_steps(int client) const {
  if (!choice().local_epochs) return choice().local_steps;
  const double samples =
      *choice().local_epochs * static_cast<double>(learner_.sampler().shard(client).size());
  const double batches = std::ceil(samples / learner_.scenario().workload.batch_per_worker);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(batches));
}

Moment RoundsTrainer::moment(std::int64_t round, std::int64_t local_step) const {
  Moment moment = learner_.moment_at(round);
  moment.local_step = local_step;
  return moment;
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

bool RoundsTrainer::is_away(int client, Seconds now) const {
  return std::ranges::any_of(learner_.scenario().cluster.absences, [&](const auto& absence) {
    return absence.worker == client && absence.time.begin <= now && now < absence.time.end;
  });
}

/// Ascending.
std::vector<int> RoundsTrainer::candidates(Seconds now) const {
  std::vector<int> list;
  for (int client = 0; client < learner_.workers(); ++client) {
    if (choice().draw == "available" && is_away(client, now)) continue;
    if (buffers() && busy_.count(client) > 0) continue;
    list.push_back(client);
  }
  return list;
}

/// All clients are away: the round begins when the first one is back.
void RoundsTrainer::wait_for_anyone(Session& session) {
  Seconds back = sim::kNeverReturns;
  for (const auto& absence : learner_.scenario().cluster.absences)
    if (absence.time.begin <= session.now() && session.now() < absence.time.end)
      back = std::min(back, absence.time.end);
  if (back >= sim::kNeverReturns)
    throw TrainerError("begin", "round " + std::to_string(round_ + 1),
                       "every client is away and none comes back",
                       "fewer rounds, or other /cluster/absences");
  session.wake_at(back, kBeginsLater | static_cast<std::uint64_t>(round_));
}

void RoundsTrainer::begin_round(Session& session) {
  GRADWIRE_ASSERT(learner_.has_profile());
  const scenarios::Scenario& scenario = learner_.scenario();
  const std::vector<int> list = candidates(session.now());
  if (list.empty() && trips_.empty()) return wait_for_anyone(session);
  const int most = choice().sample > 0 ? choice().sample : learner_.workers();
  const int wanted = clients_of_round(most, choice().sample_decay, choice().sample_least, round_) -
                     (buffers() ? static_cast<int>(busy_.size()) : 0);
  const auto weights = learner_.weights();
  sent_[round_].assign(weights.begin(), weights.end());
  now_ = {};
  submit_broadcast(session);
  bool recorded = false;
  for (const int client : sample_of(list, std::max(wanted, 0), scenario.seed, round_)) {
    ++now_.sampled;
    if (busy_.count(client) > 0) {
      ++now_.busy;
      continue;
    }
    const bool away = drops_out(client, choice().drop_out, scenario.seed, round_);
    now_.dropped_out += away ? 1 : 0;
    start_trip(client, away, !away && !std::exchange(recorded, recorded || !away), session);
  }
  if (has_deadline())
    session.wake_at(session.now() + choice().deadline, static_cast<std::uint64_t>(round_));
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

void RoundsTrainer::start_trip(int client, bool away, bool records, Session& session) {
  const std::int64_t number = next_trip_++;
  Trip& trip = trips_[number];
  trip.client = client;
  trip.round = round_;
  trip.drops_out = away;
  trip.records = records;
  trip.download = up_.plain_bytes();
  std::int64_t messages = 0;
  if (broadcast_) {
    const auto held = held_.find(client);
    const Broadcast::Download download =
        broadcast_->download(held == held_.end() ? std::nullopt : std::optional(held->second));
    trip.version = broadcast_->version();
    trip.download = download.bytes;
    messages = download.messages;
  }
  busy_.insert(client);
  submit_training(trip, number, messages, session);
}

void RoundsTrainer::submit_training(Trip& trip, std::int64_t number, std::int64_t messages,
                                    Session& session) {
  using Bucket = scenarios::ComputeProfile::Bucket;
  const auto& slowdown = learner_.scenario().cluster.slowdown;
  const double factor = slowdown[static_cast<std::size_t>(trip.client)];
  WorkBuilder builder;
  std::vector<sim::OpIndex> before;
  if (trip.download > Bytes(0))
    before = {builder.transfer(server(), trip.client, "download", trip.download)};
  if (messages > 0)
    before = {builder.operation(
        sim::OpKind::kDecode, sim::Lane::kCodec, trip.client, "catch up",
        total(learner_.profile(), &Bucket::decode) * factor * static_cast<double>(messages),
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
    const bool own = trip.round == round_ && !trip.drops_out;
    if (own) ++now_.late;
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
  const auto under_way = std::ranges::count_if(
      trips_, [](const auto& each) { return each.second.stage != Stage::kArrived; });
  update_model();
  cut_off_late(last, session, over);
  if (encoded_) session.cancel(*encoded_);
  std::ranges::sort(over);
  scenarios::StepReport report = report_of(over, session);
  forget(over);
  all_.down += now_.down;
  all_.up += now_.up;
  all_.sampled += now_.sampled;
  all_.arrived += now_.arrived;
  all_.late += now_.late;
  if (last && buffers()) all_.late -= under_way;  // no deadline has dropped them
  all_.dropped_out += now_.dropped_out;
  all_.busy += now_.busy;
  all_.arrived_late += now_.arrived_late;
  const int every = learner_.scenario().workload.evaluate_every;
  if ((round_ + 1) % every == 0 || last) report.evaluation = learner_.evaluate();
  if (last) measure_fairness();
  ++round_;
  session.close(std::move(report));
  if (!last) begin_round(session);
}

scenarios::StepReport RoundsTrainer::report_of(const std::vector<std::int64_t>& over,
                                               Session& session) {
  scenarios::StepReport report;
  report.step = round_;
  report.end = session.now();
  if (encoded_) report.graphs.push_back(*encoded_);
  Bytes down{0}, up{0};
  Hasher hasher;
  hasher.add(chain_);
  double loss = 0;
  for (const std::int64_t number : over) {
    const Trip& trip = trips_.at(number);
    report.graphs.insert(report.graphs.end(), trip.graphs.begin(), trip.graphs.end());
    down += trip.download;
    report.dense_payload += up_.plain_bytes();
    if (trip.graphs.size() < 2) continue;
    const Bytes size(static_cast<std::int64_t>(trip.update->message.size()));
    up += size;
    report.dense_payload += up_.plain_bytes();
    if (trip.stage != Stage::kArrived) continue;
    loss += trip.update->loss / static_cast<double>(now_.arrived);
    hasher.add(static_cast<std::uint64_t>(trip.client));
    hasher.add(trip.update->loss);
    hasher.add(static_cast<std::uint64_t>(size.count()));
  }
  std::ranges::sort(report.graphs);
  report.payload = down + up;
  now_.down += down.count();
  now_.up += up.count();
  report.figures = as_figures(now_);
  report.encoded_values = report.dense_payload;  // the model that is sent down is a message too
  if (now_.arrived > 0) last_loss_ = loss;
  report.loss = last_loss_;
  chain_ = hasher.value();
  return report;
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

std::vector<scenarios::Figure> RoundsTrainer::as_figures(const Counts& counts) const {
  const auto figure = [](const char* name, std::int64_t count) {
    return scenarios::Figure{name, static_cast<double>(count), "clients"};
  };
  std::vector<scenarios::Figure> figures = {
      figure("clients_sampled", counts.sampled),
      figure("clients_arrived", counts.arrived),
      figure("clients_late", counts.late),
      figure("clients_dropped_out", counts.dropped_out),
      {"download_bytes", static_cast<double>(counts.down), "B"},
      {"upload_bytes", static_cast<double>(counts.up), "B"}};
  if (!keeps_late()) return figures;
  figures.push_back(figure("clients_busy", counts.busy));
  figures.push_back(figure("clients_of_earlier_rounds", counts.arrived_late));
  return figures;
}

/// How well the model serves each client, on its own samples.
void RoundsTrainer::measure_fairness() {
  std::vector<double> shares = learner_.accuracy_by_worker();
  std::ranges::sort(shares);
  const std::size_t tenth = (shares.size() + 9) / 10;
  const auto mean_of = [](std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  const double mean = mean_of(shares);
  double squares = 0;
  for (const double share : shares) squares += (share - mean) * (share - mean);
  fairness_ = {
      {"client_accuracy_mean", mean},
      {"client_accuracy_worst_tenth", mean_of(std::span(shares).first(tenth))},
      {"client_accuracy_deviation", std::sqrt(squares / static_cast<double>(shares.size()))}};
}

std::vector<scenarios::Figure> RoundsTrainer::figures() const {
  std::vector<scenarios::Figure> figures = as_figures(all_);
  figures.insert(figures.end(), fairness_.begin(), fairness_.end());
  // A client that sends a difference keeps the model that it was sent.
  const std::int64_t of_server = broadcast_ ? broadcast_->memory().count() : 0;
  const std::int64_t sent = up_.plain() ? 0 : 4 * parameters();
  const ClientStates::Use use = clients_.use();
  const auto state = use.memory + use.file > 0 ? static_cast<std::int64_t>(up_.state_bytes()) : 0;
  std::ranges::move(
      memory_figures(
          learner_, {.optimizer_bytes = static_cast<std::int64_t>(4 * velocity_.size()) + of_server,
                     .worker_bytes = sent + state,
                     .server = true,
                     .updates_at_server = true}),
      std::back_inserter(figures));
  if (up_.state_bytes() == 0) return figures;
  figures.push_back({"memory_states_bytes", static_cast<double>(use.memory), "B"});
  figures.push_back({"state_file_bytes", static_cast<double>(use.file), "B"});
  figures.push_back({"states_on_disk", static_cast<double>(use.on_disk), "clients"});
  return figures;
}

void RoundsTrainer::train_ahead(Trip& due) {
  constexpr std::size_t kOfAThread = 4;  // more would even out the threads, and wait in memory
  const auto threads = static_cast<std::size_t>(learner_.pool().threads());
  const bool has_statistics = !learner_.statistics().empty();
  std::vector<Trip*> batch = {&due};
  if (threads > 1) {
    for (auto& [number, trip] : trips_) {
      if (batch.size() == threads * kOfAThread) break;
      const bool waits = trip.round == due.round && trip.stage == Stage::kTraining &&
                         !trip.drops_out && !trip.update && &trip != &due;
      // Statistics change when the recording client's training ends, and not before.
      if (waits && !(trip.records && has_statistics)) batch.push_back(&trip);
    }
  }
  learner_.pool().run(static_cast<int>(batch.size()), [&](int item, int thread) {
    Trip& trip = *batch[static_cast<std::size_t>(item)];
    trip.update = train(trip, thread);
  });
}

RoundsTrainer::LocalUpdate RoundsTrainer::train(const Trip& trip, int thread) {
  const std::int64_t steps = local_steps(trip.client);
  SetUpdates rule(learner_.scenario(), learner_.method(), learner_.layout());
  learner_.place(thread, sent_.at(trip.round));
  LocalUpdate update;
  for (std::int64_t h = 0; h < steps; ++h)
    update.loss += local_step(trip, thread, h, rule) / static_cast<double>(steps);
  encode(trip, thread, update);
  return update;
}

double RoundsTrainer::local_step(const Trip& trip, int thread, std::int64_t h, SetUpdates& rule) {
  Bench& bench = benches_[static_cast<std::size_t>(thread)];
  const std::int64_t draw = trip.round * local_steps(trip.client) + h;
  const bool records = trip.records && !learner_.statistics().empty();
  const double rate = learner_.rate(moment(trip.round, h));
  const std::span<float> weights = learner_.placed(thread);
  double loss = 0;
  if (choice().proximal > 0) {
    loss = learner_.pass_into(trip.client, thread, draw, trip.round, records, *bench.gradients,
                              bench.change);
    add_proximal(bench.change, static_cast<float>(choice().proximal), weights,
                 sent_.at(trip.round));
    rule.step(0, rate, GradientView(std::span<const float>(bench.change)), weights);
  } else {
    loss = learner_.local_pass(trip.client, thread, draw, trip.round, records, *bench.gradients);
    rule.step(0, rate, GradientView(bench.gradients->tensors()), weights);
  }
  learner_.weights_changed(thread);
  return loss;
}

/// What of `upload`, what a client changed, it sends: its weights instead where the method says so,
/// without what the method leaves out.
void RoundsTrainer::mask_upload(std::span<const float> trained, std::span<float> upload) const {
  for (std::size_t t = 0; t < uploads_.size(); ++t) {
    const TensorSlot& slot = learner_.layout().tensors()[t];
    const std::span<const float> own = slice(trained, slot);
    const std::span<float> sent = slice(upload, slot);
    if (uploads_[t].weights) std::ranges::copy(own, sent.begin());
    learner_.method().mask_upload(uploads_[t].set, own, sent);
  }
}

void RoundsTrainer::encode(const Trip& trip, int thread, LocalUpdate& update) {
  const std::span<const float> weights = learner_.placed(thread);
  std::vector<std::byte>& state = benches_[static_cast<std::size_t>(thread)].state;
  if (up_.plain()) {
    learner_.check_local(trip.client, trip.round, all_finite(weights));
    return up_.encode(state, trip.client, trip.round, weights, update.message);
  }
  clients_.read(trip.client, state);
  const std::vector<float>& sent = sent_.at(trip.round);
  std::vector<float>& change = benches_[static_cast<std::size_t>(thread)].change;
  learner_.check_local(trip.client, trip.round, subtract_finite(weights, sent, change));
  mask_upload(weights, change);
  up_.encode(state, trip.client, trip.round, change, update.message);
  state = clients_.propose(trip.client, std::move(state));
  update.message.shrink_to_fit();
}

}  // namespace gradwire::trainers
