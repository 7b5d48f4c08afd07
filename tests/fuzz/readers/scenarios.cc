#include "tests/fuzz/readers/groups.h"
#include "tests/fuzz/readers/inputs.h"

#include <algorithm>
#include "base/temporary_file.h"
#include "base/units.h"
#include "scenarios/profiles/profile.h"
#include "scenarios/scenario.h"

namespace gradwire::testing {
namespace {

/// Few runs of each: a mutated sweep may be millions, which is its own limit to refuse.
Inputs scenario_seeds() {
  return of_files({"scenarios/quickstart.json", "scenarios/collective.json",
                   "scenarios/federated.json", "scenarios/pipeline.json", "scenarios/gossip.json",
                   "scenarios/two-tier.json", "scenarios/outages.json", "scenarios/background.json",
                   "scenarios/methods/comp-ams.json", "scenarios/studies/site-leaves.json"});
}
bool read_scenario(std::span<const std::byte> bytes) {
  return takes(
      [&] { scenarios::read_scenario_text(text_of(bytes), source_file("scenarios/fuzzed.json")); });
}

/// "POINTER=TEXT", as --set takes it.
Inputs override_seeds() {
  return {bytes_of("/cluster/workers=8"), bytes_of("/network/link/bandwidth=\"10Gbps\""),
          bytes_of("/workload/optimizer={\"name\": \"adam\"}"), bytes_of("/seeds=[1, 2]")};
}
bool read_override(std::span<const std::byte> bytes) {
  const std::string text(text_of(bytes));
  const std::size_t equals = std::min(text.find('='), text.size());
  return takes([&] {
    scenarios::read_scenario_file(
        source_file("scenarios/quickstart.json"),
        {{text.substr(0, equals), text.substr(std::min(equals + 1, text.size()))}});
  });
}

Inputs unit_seeds() {
  return {bytes_of("10Mbps"), bytes_of("1.5 GB"), bytes_of("250us"), bytes_of("64KiB")};
}
bool read_units(std::span<const std::byte> bytes) {
  const std::string_view text = text_of(bytes);
  const bool one = takes([&] { parse_rate(text); }), two = takes([&] { parse_bytes(text); });
  return takes([&] { parse_duration(text); }) || one || two;
}

Inputs device_seeds() {
  return of_files({"scenarios/profiles/v100.json", "scenarios/profiles/reference-cpu.json"});
}
bool read_device(std::span<const std::byte> bytes) {
  const TemporaryFile file(text_of(bytes), ".json");
  return takes([&] { scenarios::load_device_profile(file.path(), file.path()); });
}

Inputs workload_seeds() {
  return of_files({"scenarios/profiles/alexnet.json", "scenarios/profiles/lstm-ptb.json"});
}
bool read_workload(std::span<const std::byte> bytes) {
  const TemporaryFile file(text_of(bytes), ".json");
  return takes([&] { scenarios::load_workload_profile(file.path(), file.path()); });
}

constexpr Reader kReaders[] = {
    {"scenario", scenario_seeds, read_scenario}, {"override", override_seeds, read_override},
    {"units", unit_seeds, read_units},           {"device", device_seeds, read_device},
    {"workload", workload_seeds, read_workload},
};

}  // namespace

std::span<const Reader> scenario_readers() {
  return kReaders;
}

}  // namespace gradwire::testing
