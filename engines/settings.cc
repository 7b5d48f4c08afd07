#include "engines/settings.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/available_memory.h"
#include "runner/record/provenance.h"

namespace gradwire::engines {
namespace {

std::string absolute(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).string();
}

}  // namespace

Settings settings_of(const runner::SweepOptions& options) {
  Settings settings;
  settings.threads = options.threads;
  settings.resume = options.resume;
  settings.checkpoint_every_s = options.checkpoint_every_s;
  settings.most_hours = options.most_hours;
  settings.memory = options.memory;
  settings.checkpoint_folder = absolute(options.checkpoint_folder);
  settings.states_folder = absolute(options.states_folder);
  settings.pcap_folder = absolute(options.pcap_folder);
  settings.flow_monitor_folder = absolute(options.flow_monitor_folder);
  settings.models_folder = absolute(options.models_folder);
  return settings;
}

runner::RunOptions run_options(const Settings& settings, int neighbours) {
  runner::RunOptions options;
  options.threads = settings.threads;
  options.resume = settings.resume;
  options.checkpoint_every_s = settings.checkpoint_every_s;
  options.most_hours = settings.most_hours;
  options.checkpoint_folder = settings.checkpoint_folder;
  options.states_folder = settings.states_folder;
  options.pcap_folder = settings.pcap_folder;
  options.flow_monitor_folder = settings.flow_monitor_folder;
  options.models_folder = settings.models_folder;
  options.memory = settings.memory;
  if (!options.memory && available_memory() > Bytes(0))
    options.memory = Bytes(available_memory().count() / 2);
  if (options.memory) options.memory = Bytes(options.memory->count() / std::max(neighbours, 1));
  return options;
}

std::string text_of(const Settings& settings) {
  nlohmann::json json = {{"version", runner::program_version()},
                         {"runs", settings.runs},
                         {"round", settings.round},
                         {"threads", settings.threads},
                         {"resume", settings.resume},
                         {"checkpoint_every_s", settings.checkpoint_every_s},
                         {"most_hours", settings.most_hours},
                         {"checkpoint_folder", settings.checkpoint_folder},
                         {"states_folder", settings.states_folder},
                         {"pcap_folder", settings.pcap_folder},
                         {"flow_monitor_folder", settings.flow_monitor_folder},
                         {"models_folder", settings.models_folder}};
  if (settings.memory) json["memory"] = settings.memory->count();
  return json.dump();
}

Settings settings_from(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object())
    throw Error(ErrorKind::kFailure, "read", "a sweep's settings", "they are no JSON object",
                "start the sweep again");
  const std::string version = json.value("version", "");
  if (version != runner::program_version())
    throw Error(ErrorKind::kFailure, "share in", "a sweep",
                "it was started by version " + version + ", and this program is version " +
                    runner::program_version(),
                "build both from the same sources: ./gradwire build --part mpi");
  Settings settings;
  settings.runs = json.value("runs", 0);
  settings.round = json.value("round", 0);
  settings.threads = json.value("threads", 1);
  settings.resume = json.value("resume", false);
  settings.checkpoint_every_s = json.value("checkpoint_every_s", 30.0);
  settings.most_hours = json.value("most_hours", 168.0);
  if (json.contains("memory")) settings.memory = Bytes(json["memory"].get<std::int64_t>());
  settings.checkpoint_folder = json.value("checkpoint_folder", "");
  settings.states_folder = json.value("states_folder", "");
  settings.pcap_folder = json.value("pcap_folder", "");
  settings.flow_monitor_folder = json.value("flow_monitor_folder", "");
  settings.models_folder = json.value("models_folder", "");
  return settings;
}

}  // namespace gradwire::engines
