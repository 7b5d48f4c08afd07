#include "trainers/schedules/rounds/rounds_trainer.h"

#include <utility>

#include "base/serial.h"

/// Saving and loading federated rounds, in the middle of one too: the model, what the server and
/// codecs remember, and every client's trip with the graphs that it has under way. Who is drawn,
/// who drops out and which samples a client sees are functions of the seed.
namespace gradwire::trainers {
void RoundsTrainer::save_content(std::ostream& out) const {
  learner_.save(out);
  clients_.save(out);
  if (broadcast_) broadcast_->save(out);
  put<std::uint64_t>(out, held_.size());
  for (const auto& [client, version] : held_) {
    put(out, client);
    put(out, version);
  }
  put(out, new_message_);
  put(out, encoded_.has_value());
  if (encoded_) put(out, *encoded_);
  put(out, round_);
  put(out, chain_);
  put(out, last_loss_);
  put(out, next_trip_);
  put(out, now_);
  put(out, all_);
  put_span(out, std::span<const float>(velocity_));
  put<std::uint64_t>(out, sent_.size());
  for (const auto& [round, model] : sent_) {
    put(out, round);
    put_span(out, std::span<const float>(model));
  }
  put<std::uint64_t>(out, trips_.size());
  for (const auto& [number, trip] : trips_) {
    put(out, number);
    put(out, trip.client);
    put(out, trip.round);
    put(out, trip.stage);
    put(out, trip.drops_out);
    put(out, trip.records);
    put(out, trip.version);
    put(out, trip.download.count());
    put_span(out, std::span<const sim::GraphId>(trip.graphs));
    put(out, trip.update.has_value());
    if (!trip.update) continue;
    put_span(out, std::span<const std::byte>(trip.update->message));
    put(out, trip.update->loss);
  }
}

void RoundsTrainer::load_content(std::istream& in) {
  learner_.load(in);
  clients_.load(in);
  if (broadcast_) broadcast_->load(in);
  held_.clear();
  for (auto left = get<std::uint64_t>(in); left > 0; --left) {
    const auto client = get<int>(in);
    held_[client] = get<std::int64_t>(in);
  }
  new_message_ = get<bool>(in);
  encoded_.reset();
  if (get<bool>(in)) encoded_ = get<sim::GraphId>(in);
  round_ = get<std::int64_t>(in);
  chain_ = get<std::uint64_t>(in);
  last_loss_ = get<double>(in);
  next_trip_ = get<std::int64_t>(in);
  now_ = get<Counts>(in);
  all_ = get<Counts>(in);
  get_into(in, std::span<float>(velocity_));
  sent_.clear();
  for (auto left = get<std::uint64_t>(in); left > 0; --left) {
    const auto round = get<std::int64_t>(in);
    sent_[round] = get_vector<float>(in);
  }
  trips_.clear();
  trip_of_.clear();
  busy_.clear();
  for (auto left = get<std::uint64_t>(in); left > 0; --left) {
    const auto number = get<std::int64_t>(in);
    Trip& trip = trips_[number];
    trip.client = get<int>(in);
    trip.round = get<std::int64_t>(in);
    trip.stage = get<Stage>(in);
    trip.drops_out = get<bool>(in);
    trip.records = get<bool>(in);
    trip.version = get<std::int64_t>(in);
    trip.download = Bytes(get<std::int64_t>(in));
    trip.graphs = get_vector<sim::GraphId>(in);
    for (const sim::GraphId graph : trip.graphs) trip_of_[graph] = number;
    if (trip.stage != Stage::kArrived) busy_.insert(trip.client);
    if (!get<bool>(in)) continue;
    std::vector<std::byte> message = get_vector<std::byte>(in);
    trip.update = LocalUpdate{std::move(message), get<double>(in)};
  }
}

}  // namespace gradwire::trainers
