#include <nlohmann/json.hpp>

#include "emulator/hub/answers.h"
#include "emulator/lab/lab.h"

namespace gradwire::emulator {

using nlohmann::json;

json to_json(const LabPlan& plan) {
  json chains = json::array();
  for (const auto& c : plan.chains) chains.push_back({c.source, c.destination, c.bytes.count()});
  json all = to_json(static_cast<const WirePlan&>(plan));
  all.update({{"chains", chains},
              {"repeats", plan.repeats},
              {"gap", plan.gap.value()},
              {"together", plan.together},
              {"congestion_control", plan.congestion_control},
              {"buffer", plan.buffer.count()},
              {"limit", plan.limit.value()}});
  return all;
}

LabPlan lab_plan_from_json(const json& j) {
  LabPlan plan;
  static_cast<WirePlan&>(plan) = wire_plan_from_json(j);
  for (const json& c : j.at("chains"))
    plan.chains.push_back({c[0], c[1], Bytes(c[2].get<std::int64_t>())});
  plan.repeats = j.at("repeats");
  plan.gap = Seconds(j.at("gap").get<double>());
  plan.together = j.at("together");
  plan.congestion_control = j.at("congestion_control");
  plan.buffer = Bytes(j.at("buffer").get<std::int64_t>());
  plan.limit = Seconds(j.at("limit").get<double>());
  return plan;
}

json to_json(const LabResult& result) {
  json transfers = json::array();
  for (const auto& chain : result.transfers) {
    json list = json::array();
    for (const auto& transfer : chain) list.push_back({transfer.start, transfer.end});
    transfers.push_back(std::move(list));
  }
  return {{"kind", "result"},
          {"transfers", transfers},
          {"retransmissions", result.retransmissions},
          {"late_in", result.late_in},
          {"late", {result.late_50, result.late_99, result.late_most}},
          {"frames", {result.frames, result.dropped, result.lost, result.missed}},
          {"kernel", result.kernel},
          {"priority", result.priority}};
}

LabResult lab_result_from_json(const json& j) {
  return understood("the lab's result", [&] {
    LabResult result;
    for (const json& chain : j.at("transfers")) {
      auto& list = result.transfers.emplace_back();
      for (const json& transfer : chain) list.push_back({transfer.at(0), transfer.at(1)});
    }
    result.retransmissions = j.at("retransmissions").get<std::vector<std::int64_t>>();
    result.late_in = j.at("late_in").get<std::vector<double>>();
    const json &late = j.at("late"), &frames = j.at("frames");
    result.late_50 = late.at(0);
    result.late_99 = late.at(1);
    result.late_most = late.at(2);
    result.frames = frames.at(0);
    result.dropped = frames.at(1);
    result.lost = frames.at(2);
    result.missed = frames.at(3);
    result.kernel = j.at("kernel");
    result.priority = j.at("priority");
    return result;
  });
}

}  // namespace gradwire::emulator
