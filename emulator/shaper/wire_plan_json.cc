#include <map>
#include <nlohmann/json.hpp>

#include "emulator/hub/frame.h"
#include "emulator/shaper/wire_plan.h"

namespace gradwire::emulator {

using nlohmann::json;

namespace {

json schedule_to_json(const sim::RateSchedule& schedule) {
  if (!schedule.opportunities().empty())
    return {{"name", schedule.name()},
            {"opportunities", to_blob(std::span<const std::uint32_t>(schedule.opportunities()))}};
  json pieces = json::array();
  for (const sim::RateSchedule::Piece& piece : schedule.pieces())
    pieces.push_back({piece.begin.value(), piece.rate.value()});
  return {{"name", schedule.name()}, {"pieces", pieces}, {"period", schedule.period().value()}};
}

sim::RateSchedulePtr schedule_from_json(const json& j) {
  const std::string name = j.at("name");
  if (j.contains("opportunities"))
    return sim::RateSchedule::from_opportunities(name,
                                                 from_blob<std::uint32_t>(j.at("opportunities")));
  std::vector<sim::RateSchedule::Piece> pieces;
  for (const json& piece : j.at("pieces"))
    pieces.push_back({Seconds(piece[0].get<double>()), BitsPerSecond(piece[1].get<double>())});
  const Seconds period(j.at("period").get<double>());
  return period > Seconds(0) ? sim::RateSchedule::from_pieces(name, std::move(pieces), period)
                             : sim::RateSchedule::fading(name, std::move(pieces));
}

/// `schedule`: its number in the plan's list; -1: none.
json channel_to_json(const WireNetwork::Channel& c, int schedule) {
  json outages = json::array();
  for (const sim::Outage& outage : c.outages)
    outages.push_back({outage.begin.value(), outage.end.value()});
  return {{"rate", c.rate},
          {"delay", c.delay},
          {"loss", c.loss},
          {"queue", {c.codel.target, c.codel.interval, c.limit}},
          {"fair", c.fair},
          {"jitter", c.jitter},
          {"burst", {c.burst.enter, c.burst.leave, c.burst.loss}},
          {"schedule", schedule},
          {"offset", c.schedule_offset},
          {"outages", outages}};
}

WireNetwork::Channel channel_from_json(const json& j,
                                       const std::vector<sim::RateSchedulePtr>& schedules) {
  WireNetwork::Channel c;
  c.rate = j.at("rate");
  c.delay = j.at("delay");
  c.loss = j.at("loss");
  const json& queue = j.at("queue");
  c.codel = {queue.at(0), queue.at(1)};
  c.limit = queue.at(2);
  c.fair = j.at("fair");
  c.jitter = j.at("jitter");
  const json& burst = j.at("burst");
  c.burst = {burst.at(0), burst.at(1), burst.at(2)};
  const int schedule = j.at("schedule");
  if (schedule >= 0) c.schedule = schedules.at(static_cast<std::size_t>(schedule));
  c.schedule_offset = j.at("offset");
  for (const json& outage : j.at("outages"))
    c.outages.push_back({Seconds(outage.at(0).get<double>()), Seconds(outage.at(1).get<double>())});
  return c;
}

}  // namespace

json to_json(const WirePlan& plan) {
  json channels = json::array(), routes = json::array(), schedules = json::array();
  std::map<const sim::RateSchedule*, int> numbers;
  for (const auto& channel : plan.channels) {
    if (channel.schedule && numbers.emplace(channel.schedule.get(), numbers.size()).second)
      schedules.push_back(schedule_to_json(*channel.schedule));
    channels.push_back(
        channel_to_json(channel, channel.schedule ? numbers.at(channel.schedule.get()) : -1));
  }
  for (const WirePlan::Route& route : plan.routes)
    routes.push_back({route.source, route.destination, route.channels});
  return {{"hosts", plan.hosts},
          {"schedules", std::move(schedules)},
          {"channels", std::move(channels)},
          {"routes", std::move(routes)},
          {"seed", plan.seed}};
}

WirePlan wire_plan_from_json(const json& j) {
  WirePlan plan;
  plan.hosts = j.at("hosts");
  plan.seed = j.at("seed");
  std::vector<sim::RateSchedulePtr> schedules;
  for (const json& schedule : j.at("schedules")) schedules.push_back(schedule_from_json(schedule));
  for (const json& channel : j.at("channels"))
    plan.channels.push_back(channel_from_json(channel, schedules));
  for (const json& route : j.at("routes"))
    plan.routes.push_back({route.at(0), route.at(1), route.at(2).get<std::vector<int>>()});
  return plan;
}

}  // namespace gradwire::emulator
