#include <nlohmann/json.hpp>

#include "emulator/hub/answers.h"
#include "emulator/shaper/link_report.h"

namespace gradwire::emulator {

using nlohmann::json;

json to_json(const LinkReport& report) {
  json channels = json::array(), late = json::array();
  for (const WireChannel::Counts& c : report.channels)
    channels.push_back({c.bytes, c.busy, c.frames, c.dropped, c.lost});
  for (const Lateness::Bin& bin : report.late) late.push_back({bin.most, bin.frames});
  const WireNetwork::Counts& counts = report.counts;
  return {{"kind", "links"},
          {"late", {report.late_50, report.late_99, report.late_most, report.late_worst}},
          {"histogram", std::move(late)},
          {"frames", {counts.entered, counts.left, counts.dropped, counts.lost}},
          {"channels", std::move(channels)},
          {"missed", report.missed},
          {"missed_opportunities", report.missed_opportunities}};
}

LinkReport link_report_from_json(const json& message) {
  return understood("what the link process saw", [&] {
    LinkReport report;
    report.by_process = true;
    const json& late = message.at("late");
    report.late_50 = late.at(0);
    report.late_99 = late.at(1);
    report.late_most = late.at(2);
    report.late_worst = late.at(3);
    for (const json& bin : message.at("histogram"))
      report.late.push_back({bin.at(0).get<double>(), bin.at(1).get<std::int64_t>()});
    const json& frames = message.at("frames");
    report.counts = {frames.at(0), frames.at(1), frames.at(2), frames.at(3)};
    for (const json& c : message.at("channels"))
      report.channels.push_back({c.at(0), c.at(1), c.at(2), c.at(3), c.at(4)});
    report.missed = message.at("missed");
    report.missed_opportunities = message.at("missed_opportunities");
    return report;
  });
}

}  // namespace gradwire::emulator
