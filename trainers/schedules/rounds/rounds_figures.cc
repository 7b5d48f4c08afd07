#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "base/hash.h"
#include "trainers/schedules/memory_use.h"
#include "trainers/schedules/rounds/rounds_trainer.h"

/// What federated rounds report: of each round, and of the run.
namespace gradwire::trainers {
namespace {

/// What has arrived of a graph's messages: of those that were cut off nothing has.
Bytes arrived_bytes(const sim::Timeline& timeline) {
  Bytes sum{0};
  for (const sim::OpRecord& op : timeline.ops)
    if (op.end >= Seconds(0)) sum += op.payload;
  return sum;
}

}  // namespace

scenarios::StepReport RoundsTrainer::report_of(const std::vector<std::int64_t>& over,
                                               scenarios::Session& session) {
  scenarios::StepReport report;
  report.step = round_;
  report.end = session.now();
  if (encoded_) report.graphs.push_back(*encoded_);
  Bytes down{0}, up{0}, encoded{0};
  const auto add = [&](sim::GraphId graph, Bytes& way) {
    const Bytes arrived = arrived_bytes(session.timeline(graph));
    way += arrived;
    encoded += up_.plain_bytes();
    if (arrived > Bytes(0)) report.dense_payload += up_.plain_bytes();
  };
  Hasher hasher;
  hasher.add(chain_);
  double loss = 0;
  for (const std::int64_t number : over) {
    const Trip& trip = trips_.at(number);
    report.graphs.insert(report.graphs.end(), trip.graphs.begin(), trip.graphs.end());
    add(trip.graphs[0], down);
    if (trip.graphs.size() < 2) continue;
    add(trip.graphs[1], up);
    const Bytes size(static_cast<std::int64_t>(trip.update->message.size()));
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
  report.encoded_values = encoded;  // the model that is sent down is a message too
  if (now_.arrived > 0) last_loss_ = loss;
  report.loss = last_loss_;
  chain_ = hasher.value();
  return report;
}

void RoundsTrainer::Counts::add(const Counts& other) {
  sampled += other.sampled;
  arrived += other.arrived;
  late += other.late;
  dropped_out += other.dropped_out;
  busy += other.busy;
  arrived_late += other.arrived_late;
  down += other.down;
  up += other.up;
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

}  // namespace gradwire::trainers
