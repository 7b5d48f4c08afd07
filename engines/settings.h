#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "runner/sweep.h"

namespace gradwire::engines {

/// What every process of a sweep is told besides its runs.
struct Settings {
  int runs = 0;   ///< of the sweep, for progress
  int round = 0;  ///< how often processes were started for it before
  int threads = 1;
  bool resume = false;
  double checkpoint_every_s = 30;
  double most_hours = 168;
  std::optional<Bytes> memory;  ///< of all processes of a machine together
  // Absolute paths, on every machine; empty: none.
  std::string checkpoint_folder;
  std::string states_folder;
  std::string pcap_folder;
  std::string flow_monitor_folder;
  std::string models_folder;
};

/// Of a sweep's options; paths become absolute.
Settings settings_of(const runner::SweepOptions& options);
/// The options of a process that runs one run at a time, one of `neighbours` on its machine.
runner::RunOptions run_options(const Settings& settings, int neighbours);

std::string text_of(const Settings& settings);
/// Throws Error for a text that is none of text_of's, or of another version of the program: its
/// runs would not be those of this one.
Settings settings_from(const std::string& text);

}  // namespace gradwire::engines
