#include "sim/packet/link_wire_format.h"

#include <map>

#include "sim/packet/packed.h"

namespace gradwire::sim {
namespace {

using nlohmann::json;

json encode_schedule(const RateSchedule& schedule) {
  json value{{"name", schedule.name()}};
  if (!schedule.opportunities().empty()) {
    value["opportunities"] = pack(schedule.opportunities());
  } else {
    value["pieces"] = pack(schedule.pieces());
    value["period"] = schedule.period().value();
  }
  return value;
}

RateSchedulePtr decode_schedule(const json& value) {
  const std::string name = value.at("name");
  if (value.contains("opportunities"))
    return RateSchedule::from_opportunities(name, unpack<std::uint32_t>(value.at("opportunities")));
  return RateSchedule::from_pieces(name, unpack<RateSchedule::Piece>(value.at("pieces")),
                                   Seconds(value.at("period").get<double>()));
}

/// The schedules of a cluster by number; -1 stands for none.
class ScheduleTable {
 public:
  int number_of(const RateSchedulePtr& schedule) {
    if (!schedule) return -1;
    const auto [known, is_new] = numbers_.try_emplace(schedule, static_cast<int>(numbers_.size()));
    if (is_new) schedules_.push_back(encode_schedule(*schedule));
    return known->second;
  }
  const json& schedules() const { return schedules_; }

 private:
  std::map<RateSchedulePtr, int> numbers_;
  json schedules_ = json::array();
};

json encode_link(const Link& link, ScheduleTable& table) {
  const LinkSpec& spec = link.spec;
  return json::array({link.a, link.b, spec.rate.value(), spec.delay.value(), spec.loss,
                      spec.queue.count(), spec.jitter.value(), spec.burst.enter, spec.burst.leave,
                      spec.burst.loss, spec.half_duplex, table.number_of(spec.schedule),
                      table.number_of(spec.schedule_back), spec.schedule_offset.value(),
                      pack(spec.outages)});
}

LinkSpec decode_spec(const json& link, const std::vector<RateSchedulePtr>& schedules) {
  const auto schedule = [&](const json& number) {
    const int index = number;
    return index < 0 ? nullptr : schedules.at(static_cast<std::size_t>(index));
  };
  LinkSpec spec;
  spec.rate = BitsPerSecond(link.at(2).get<double>());
  spec.delay = Seconds(link.at(3).get<double>());
  spec.loss = link.at(4);
  spec.queue = Bytes(link.at(5).get<std::int64_t>());
  spec.jitter = Seconds(link.at(6).get<double>());
  spec.burst = {link.at(7), link.at(8), link.at(9)};
  spec.half_duplex = link.at(10);
  spec.schedule = schedule(link.at(11));
  spec.schedule_back = schedule(link.at(12));
  spec.schedule_offset = Seconds(link.at(13).get<double>());
  spec.outages = unpack<Outage>(link.at(14));
  return spec;
}

json encode_cell(const Cell& cell) {
  return json{{"kind", static_cast<int>(cell.kind)},
              {"base", cell.base},
              {"stations", pack(cell.stations)},
              {"width", cell.width},
              {"exponent", cell.exponent}};
}

Cell decode_cell(const json& value) {
  Cell cell;
  cell.kind = static_cast<Cell::Kind>(value.at("kind").get<int>());
  cell.base = value.at("base");
  cell.stations = unpack<Station>(value.at("stations"));
  cell.width = value.at("width");
  cell.exponent = value.at("exponent");
  return cell;
}

}  // namespace

json encode_links(const Cluster& cluster) {
  ScheduleTable table;
  json links = json::array(), cells = json::array();
  for (const Link& link : cluster.links()) {
    if (link.cell < 0) {
      links.push_back(encode_link(link, table));
    } else if (link.cell == static_cast<std::int32_t>(cells.size())) {
      // The cell's links follow each other, and from the cell.
      cells.push_back(encode_cell(cluster.cells()[static_cast<std::size_t>(link.cell)]));
      links.push_back(link.cell);
    }
  }
  return json{{"schedules", table.schedules()}, {"links", links}, {"cells", cells}};
}

void decode_links(const json& value, Cluster& cluster) {
  std::vector<RateSchedulePtr> schedules;
  for (const json& schedule : value.at("schedules")) schedules.push_back(decode_schedule(schedule));
  for (const json& link : value.at("links")) {
    if (link.is_number())
      cluster.add_cell(decode_cell(value.at("cells").at(link.get<std::size_t>())));
    else
      cluster.add_link(link.at(0), link.at(1), decode_spec(link, schedules));
  }
}

}  // namespace gradwire::sim
