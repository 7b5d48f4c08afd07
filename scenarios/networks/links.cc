#include "scenarios/networks/links.h"

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/hash.h"
#include "base/units.h"
#include "scenarios/document/pointer.h"
#include "scenarios/share.h"
#include "sim/sim_error.h"

namespace gradwire::scenarios {
namespace {

using nlohmann::ordered_json;
using Refuse = std::function<void(const std::string&, const std::string&)>;

constexpr const char* kWays[] = {"", "_back"};

std::string text_at(const ordered_json& json, const std::string& key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

Seconds time_at(const ordered_json& json, const char* key) {
  const std::string text = text_at(json, key);
  return text.empty() ? Seconds(0) : parse_duration(text);
}

ScheduleFiles::Loaded read_schedule(const std::string& path) {
  ScheduleFiles::Loaded loaded;
  try {
    const std::string text = read_file(path);
    Hasher hasher;
    hasher.add_text(text);
    loaded.hash = hasher.hex();
    loaded.schedule = path.ends_with(".csv") ? sim::RateSchedule::from_csv(path, text)
                                             : sim::RateSchedule::from_mahimahi(path, text);
  } catch (const Error& error) {
    loaded.problem = error.what();
  }
  return loaded;
}

/// Throws SimError for pieces that no link can follow.
sim::RateSchedulePtr written_schedule(const ordered_json& link, const std::string& way) {
  std::vector<sim::RateSchedule::Piece> pieces;
  for (const ordered_json& each : link.at("changes" + way))
    pieces.push_back({time_at(each, "at"), parse_rate(text_at(each, "bandwidth"))});
  return sim::RateSchedule::from_pieces("changes" + way, std::move(pieces),
                                        time_at(link, "changes_repeat"));
}

/// A rate that never changes.
sim::RateSchedulePtr steady(const std::string& name, BitsPerSecond rate) {
  return sim::RateSchedule::from_pieces(name, {{Seconds(0), rate}}, Seconds(0));
}

sim::RateSchedulePtr schedule_of(const ordered_json& link, const std::string& way,
                                 const std::string& file, ScheduleFiles& files) {
  if (link.contains("schedule" + way))
    return files.load(text_at(link, "schedule" + way), file).schedule;
  if (!link.contains("changes" + way)) return nullptr;
  try {
    return written_schedule(link, way);
  } catch (const sim::SimError&) {
    return nullptr;  // check_schedules() tells
  }
}

void add_hash(ordered_json& object, const std::string& key, const std::string& path,
              const std::string& file, ScheduleFiles& files) {
  if (path.empty() || object.contains(key)) return;
  const std::string& hash = files.load(path, file).hash;
  if (!hash.empty()) object[key] = hash;
}

void check_file(const std::string& pointer, const std::string& path, const std::string& hash,
                const std::string& file, ScheduleFiles& files, const Refuse& refuse) {
  const ScheduleFiles::Loaded& loaded = files.load(path, file);
  if (!loaded.problem.empty()) refuse(pointer, loaded.problem);
  if (loaded.problem.empty() && !hash.empty() && hash != loaded.hash)
    refuse(pointer, "the file is another than the one whose hash was noted (" + hash + ", now " +
                        loaded.hash + ")");
}

void check_link_schedules(const std::string& at, const ordered_json& link, const std::string& file,
                          ScheduleFiles& files, const Refuse& refuse) {
  for (const std::string way : kWays) {
    const std::string schedule = "schedule" + way, changes = "changes" + way;
    if (link.contains(schedule) && link.contains(changes))
      refuse(at + "/" + changes, "there is a file of a schedule too (/" + schedule + ")");
    if (link.contains(schedule))
      check_file(at + "/" + schedule, text_at(link, schedule), text_at(link, schedule + "_hash"),
                 file, files, refuse);
    if (!link.contains(changes)) continue;
    try {
      written_schedule(link, way);
    } catch (const sim::SimError& error) {
      refuse(at + "/" + changes, error.what());
    }
  }
  if (link.contains("bandwidth_back")) {
    const std::string pointer = at + "/bandwidth_back";
    if (link.contains("schedule_back") || link.contains("changes_back"))
      refuse(pointer, "the way back has a schedule too");
    if (link.value("half_duplex", false))
      return refuse(pointer, "both directions share one bandwidth (/half_duplex)");
  }
  try {
    sim::LinkSpec spec = link_of(link, file, files);
    check_link("this link", spec);
  } catch (const sim::SimError& error) {
    refuse(at, error.what());
  }
}

void fill_burst(const ordered_json& json, sim::BurstLoss& burst) {
  burst.enter = json.value("enter", burst.enter);
  burst.leave = json.value("leave", burst.leave);
  burst.loss = json.value("loss", burst.loss);
}

}  // namespace

const ScheduleFiles::Loaded& ScheduleFiles::load(const std::string& path, const std::string& file) {
  const std::string resolved = relative_to_file(path, file);
  const auto found = loaded_.find(resolved);
  if (found != loaded_.end()) return found->second;
  return loaded_.emplace(resolved, read_schedule(resolved)).first->second;
}

void for_links(ordered_json& network,
               const std::function<void(const std::string&, ordered_json&)>& each) {
  for (const char* name : {"link", "server_link", "uplink", "bottleneck", "intra_link"}) {
    const auto found = network.find(name);
    if (found != network.end() && found->is_object()) each(child_pointer("/network", name), *found);
  }
  for (const char* name : {"site_links", "links"}) {
    const auto found = network.find(name);
    if (found == network.end() || !found->is_array()) continue;
    const std::string list = child_pointer("/network", name);
    for (std::size_t i = 0; i < found->size(); ++i)
      if ((*found)[i].is_object()) each(child_pointer(list, i), (*found)[i]);
  }
}

void add_schedule_hashes(ordered_json& network, const std::string& file, ScheduleFiles& files) {
  for_links(network, [&](const std::string&, ordered_json& link) {
    for (const std::string way : kWays)
      add_hash(link, "schedule" + way + "_hash", text_at(link, "schedule" + way), file, files);
  });
  const auto traces = network.find("traces");
  if (traces == network.end() || !traces->is_object()) return;
  for (const std::string way : {"up", "down"}) {
    const auto list = traces->find(way);
    if (list == traces->end() || !list->is_array() || traces->contains(way + "_hashes")) continue;
    ordered_json hashes = ordered_json::array();
    for (const ordered_json& path : *list)
      hashes.push_back(path.is_string() ? files.load(path.get<std::string>(), file).hash : "");
    (*traces)[way + "_hashes"] = hashes;
  }
}

sim::LinkSpec link_of(const ordered_json& json, const std::string& file, ScheduleFiles& files) {
  sim::LinkSpec link;
  if (json.contains("bandwidth")) link.rate = parse_rate(text_at(json, "bandwidth"));
  if (json.contains("delay")) link.delay = time_at(json, "delay");
  link.loss = json.value("loss", link.loss);
  if (json.contains("queue")) link.queue = parse_bytes(text_at(json, "queue"));
  link.jitter = time_at(json, "jitter");
  if (json.contains("burst")) fill_burst(json["burst"], link.burst);
  link.half_duplex = json.value("half_duplex", false);
  link.schedule = schedule_of(json, "", file, files);
  link.schedule_back = schedule_of(json, "_back", file, files);
  const std::string back = text_at(json, "bandwidth_back");
  if (!back.empty() && !link.schedule_back)
    link.schedule_back = steady("bandwidth_back", parse_rate(back));
  if (!json.contains("outages")) return link;
  for (const ordered_json& each : json["outages"])
    link.outages.push_back({time_at(each, "begin"), time_at(each, "end")});
  return link;
}

void check_schedules(const ordered_json& network, const std::string& file, ScheduleFiles& files,
                     const Refuse& refuse) {
  ordered_json links = network;
  for_links(links, [&](const std::string& at, ordered_json& link) {
    check_link_schedules(at, link, file, files, refuse);
  });
  const auto traces = network.find("traces");
  if (traces == network.end()) return;
  for (const std::string way : {"up", "down"}) {
    if (!traces->contains(way)) continue;
    const ordered_json& list = (*traces)[way];
    const std::string at = "/network/traces/" + way;
    if (list.empty()) refuse(at, "the list is empty");
    const ordered_json hashes = traces->value(way + "_hashes", ordered_json::array());
    if (hashes.size() != list.size()) refuse(at + "_hashes", "there must be one for each path");
    for (std::size_t i = 0; i < list.size() && i < hashes.size(); ++i)
      check_file(child_pointer(at, i), list[i].get<std::string>(), hashes[i].get<std::string>(),
                 file, files, refuse);
  }
}

}  // namespace gradwire::scenarios
