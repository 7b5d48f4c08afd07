#include <algorithm>

#include "trainers/replays/client_sampling.h"
#include "trainers/schedules/rounds/rounds_trainer.h"
#include "trainers/trainer_error.h"

/// Who takes part in a round.
namespace gradwire::trainers {

/// By client: absent at `now`.
std::vector<bool> RoundsTrainer::away(Seconds now) const {
  std::vector<bool> away(static_cast<std::size_t>(learner_.workers()), false);
  for (const auto& absence : learner_.scenario().cluster.absences)
    if (absence.worker < learner_.workers() && absence.time.begin <= now && now < absence.time.end)
      away[static_cast<std::size_t>(absence.worker)] = true;
  return away;
}

/// Ascending.
std::vector<int> RoundsTrainer::candidates(Seconds now) const {
  const std::vector<bool> is_away = away(now);
  std::vector<int> list;
  for (int client = 0; client < learner_.workers(); ++client) {
    if (choice().draw == "available" && is_away[static_cast<std::size_t>(client)]) continue;
    if (buffers() && busy_.count(client) > 0) continue;
    list.push_back(client);
  }
  return list;
}

/// All clients are away: the round begins when the first one is back.
void RoundsTrainer::wait_for_anyone(scenarios::Session& session) {
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

void RoundsTrainer::begin_round(scenarios::Session& session) {
  GRADWIRE_ASSERT(learner_.has_profile());
  const scenarios::Scenario& scenario = learner_.scenario();
  const Seconds begin = session.now();  // a real clock goes on while graphs are submitted
  const std::vector<int> list = candidates(begin);
  if (list.empty() && trips_.empty()) return wait_for_anyone(session);
  const int most = choice().sample > 0 ? choice().sample : learner_.workers();
  const int wanted = clients_of_round(most, choice().sample_decay, choice().sample_least, round_) -
                     (buffers() ? static_cast<int>(busy_.size()) : 0);
  const auto weights = learner_.weights();
  sent_[round_].assign(weights.begin(), weights.end());
  now_ = {};
  submit_broadcast(session);
  bool recorded = false;
  const std::int64_t first = next_trip_;
  for (const int client : sample_of(list, std::max(wanted, 0), scenario.seed, round_)) {
    ++now_.sampled;
    if (busy_.count(client) > 0) {
      ++now_.busy;
      continue;
    }
    const bool away = drops_out(client, choice().drop_out, scenario.seed, round_);
    now_.dropped_out += away ? 1 : 0;
    const bool records = !away && !recorded;
    recorded = recorded || records;
    add_trip(client, away, records);
  }
  if (trains_ahead_) train_round();
  for (auto trip = trips_.lower_bound(first); trip != trips_.end(); ++trip)
    submit_training(trip->second, trip->first, session);
  if (has_deadline())
    session.wake_at(begin + choice().deadline, static_cast<std::uint64_t>(round_));
}

}  // namespace gradwire::trainers
