#pragma once
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/cluster/link.h"

/// Links of scenarios: from JSON, with the schedules that they name.
namespace gradwire::scenarios {

/// Schedules in files, each read once. A bad file is told by its `problem`, never thrown, so that
/// all problems of a scenario are found.
class ScheduleFiles {
 public:
  struct Loaded {
    sim::RateSchedulePtr schedule;  ///< null if there is a problem
    std::string hash;               ///< of the file's bytes; empty if it cannot be read
    std::string problem;
  };
  /// `path` as the scenario `file` names it. Mahimahi's form, or CSV if it ends in ".csv".
  const Loaded& load(const std::string& path, const std::string& file);

 private:
  std::map<std::string, Loaded> loaded_;
};

/// Calls each(pointer, link) for every link object of a scenario's network, read or not.
void for_links(nlohmann::ordered_json& network,
               const std::function<void(const std::string&, nlohmann::ordered_json&)>& each);

/// Notes the hash of every schedule's file beside its path, where none is given.
void add_schedule_hashes(nlohmann::ordered_json& network, const std::string& file,
                         ScheduleFiles& files);

/// Of a resolved link; a schedule with a problem is left out.
sim::LinkSpec link_of(const nlohmann::ordered_json& json, const std::string& file,
                      ScheduleFiles& files);

/// Calls refuse(pointer, reason) for all that is wrong with a resolved network's schedules.
void check_schedules(const nlohmann::ordered_json& network, const std::string& file,
                     ScheduleFiles& files,
                     const std::function<void(const std::string&, const std::string&)>& refuse);

}  // namespace gradwire::scenarios
