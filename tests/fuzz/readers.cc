#include "tests/fuzz/readers.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/temporary_file.h"
#include "base/units.h"
#include "compressors/codec.h"
#include "compressors/crc32c.h"
#include "compressors/model_file.h"
#include "results/points/csv_points.h"
#include "results/points/iperf_log.h"
#include "results/points/nccl_log.h"
#include "results/timeline_blob.h"
#include "scenarios/profile.h"
#include "scenarios/scenario.h"
#include "scenarios/share.h"
#include "sim/cluster/rate_schedule.h"
#include "sim/cluster/topologies/topologies.h"
#include "sim/graph/step_graph.h"
#include "sim/packet/wire_format.h"
#include "sim/transport/calibration.h"

namespace gradwire::testing {
namespace {

using nlohmann::json;
using Input = std::vector<std::byte>;
using Inputs = std::vector<Input>;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Input bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string source_file(const std::string& name) {
  const char* const source = std::getenv("GRADWIRE_SOURCE_DIR");
  return std::string(source != nullptr ? source : ".") + "/" + name;
}

Inputs of_files(std::initializer_list<const char*> names) {
  Inputs inputs;
  for (const char* name : names) inputs.push_back(bytes_of(read_file(source_file(name))));
  return inputs;
}

template <class Read>
bool takes(Read&& read) {
  try {
    read();
    return true;
  } catch (const Error&) {
    return false;
  }
}

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

Inputs trace_seeds() {
  return {bytes_of("1\n3\n3\n3\n7\n20\n"), bytes_of("0\n1000\n")};
}
bool read_trace(std::span<const std::byte> bytes) {
  return takes([&] { sim::RateSchedule::from_mahimahi("a trace", text_of(bytes)); });
}

Inputs schedule_seeds() {
  return {bytes_of("seconds,bps\n0,1e6\n2.5,0\n# gone\n4,2e6\n")};
}
bool read_schedule(std::span<const std::byte> bytes) {
  return takes([&] { sim::RateSchedule::from_csv("a schedule", text_of(bytes)); });
}

Inputs calibration_seeds() {
  Inputs inputs;
  for (const std::string_view name : sim::shipped_calibrations())
    inputs.push_back(bytes_of(sim::calibration_json(sim::shipped_calibration(name))));
  return inputs;
}
bool read_calibration(std::span<const std::byte> bytes) {
  return takes([&] { sim::parse_calibration(text_of(bytes), "a calibration"); });
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

Inputs table_seeds() {
  return of_files({"tests/results/points/samples/steps.csv"});
}
bool read_table(std::span<const std::byte> bytes) {
  return takes([&] { results::points_from_csv(text_of(bytes), "a table", {}); });
}

Inputs nccl_seeds() {
  return of_files({"tests/results/points/samples/all_reduce.txt",
                   "tests/results/points/samples/all_gather.txt"});
}
bool read_nccl(std::span<const std::byte> bytes) {
  return takes([&] { results::read_nccl_log(text_of(bytes), "a log"); });
}

Inputs iperf_seeds() {
  return of_files(
      {"tests/results/points/samples/iperf3.json", "tests/results/points/samples/iperf3.txt"});
}
bool read_iperf(std::span<const std::byte> bytes) {
  return takes([&] { results::read_iperf_log(text_of(bytes), "a log"); });
}

Inputs timeline_seeds() {
  const std::vector<results::TimelineSegment> segments = {
      {.step = 1, .worker = 0, .label = "forward", .start_s = 0.5, .end_s = 0.75},
      {.step = 1, .worker = 3, .lane = 1, .label = "encode", .start_s = 0.75, .end_s = 0.8},
      {.step = 1,
       .worker = 1,
       .lane = results::kTransferLane,
       .label = "push",
       .start_s = 0.8,
       .end_s = 2,
       .bytes = 1 << 20}};
  return {results::pack_timeline(segments)};
}
bool read_timeline(std::span<const std::byte> bytes) {
  std::vector<results::TimelineSegment> segments;
  return takes([&] { results::unpack_timeline(bytes, 1, "run 1", segments); });
}

/// Mutations of a whole file stop at its checksum: the bytes are those before, whose sum is added.
Inputs model_seeds() {
  const std::vector<float> values = {1, -2, 3, 0.5f, 0, 1};
  const std::vector<std::int64_t> shape = {2, 3};
  compressors::ModelFile file{.seed = 7, .scenario = 9};
  file.tensors.push_back(compressors::store_tensor({"fc.weight", shape, values}, {.name = "none"}));
  Input whole = compressors::write_model_file(file);
  whole.resize(whole.size() - 4);
  return {whole};
}
bool read_model(std::span<const std::byte> bytes) {
  Input whole(bytes.begin(), bytes.end());
  const std::uint32_t sum = compressors::crc32c(whole);
  const auto* const end = reinterpret_cast<const std::byte*>(&sum);
  whole.insert(whole.end(), end, end + sizeof sum);
  return takes([&] {
    for (const compressors::StoredTensor& tensor :
         compressors::read_model_file(whole, "a model").tensors) {
      if (tensor.elements() > 1u << 16) continue;
      std::vector<float> values(tensor.elements());
      compressors::load_tensor(tensor, values);
    }
  });
}

Input cbor(const json& value) {
  const std::vector<std::uint8_t> bytes = json::to_cbor(value);
  const auto* const begin = reinterpret_cast<const std::byte*>(bytes.data());
  return {begin, begin + bytes.size()};
}

/// What a packet simulator answers: its parent takes exceptions of CBOR for a damaged frame.
Inputs answer_seeds() {
  const std::vector<sim::Event> events = {
      {Seconds(0.1), sim::EventKind::kRankDone, sim::OpRef{7, 2}, 5}};
  sim::Timeline timeline;
  timeline.ops.resize(2);
  timeline.rank_done = {{Seconds(1), Seconds(2)}, {}};
  const std::vector<sim::MissingData> missing(1);
  return {cbor({{"events", sim::encode_events(events)}}),
          cbor({{"timeline", sim::encode_timeline(timeline)}}),
          cbor({{"missing", sim::encode_missing(missing)}})};
}
bool read_answer(std::span<const std::byte> bytes) {
  return takes([&] {
    try {
      const auto* const begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
      const json answer = json::from_cbor(begin, begin + bytes.size());
      std::vector<sim::Event> events;
      if (answer.contains("events")) sim::decode_events(answer.at("events"), events);
      if (answer.contains("timeline")) sim::decode_timeline(answer.at("timeline"));
      if (answer.contains("missing")) sim::decode_missing(answer.at("missing"));
    } catch (const json::exception&) {
      throw Error(ErrorKind::kFailure, "read", "an answer", "it is damaged");
    } catch (const std::out_of_range&) {
      throw Error(ErrorKind::kFailure, "read", "an answer", "it is damaged");
    }
  });
}

constexpr std::array kReaders = {
    Reader{"scenario", scenario_seeds, read_scenario},
    Reader{"override", override_seeds, read_override},
    Reader{"units", unit_seeds, read_units},
    Reader{"trace", trace_seeds, read_trace},
    Reader{"schedule", schedule_seeds, read_schedule},
    Reader{"calibration", calibration_seeds, read_calibration},
    Reader{"device", device_seeds, read_device},
    Reader{"workload", workload_seeds, read_workload},
    Reader{"table", table_seeds, read_table},
    Reader{"nccl-log", nccl_seeds, read_nccl},
    Reader{"iperf-log", iperf_seeds, read_iperf},
    Reader{"timeline", timeline_seeds, read_timeline},
    Reader{"model", model_seeds, read_model},
    Reader{"answer", answer_seeds, read_answer},
};

}  // namespace

std::span<const Reader> readers() {
  return kReaders;
}

const Reader& reader_named(const std::string& name) {
  std::string names;
  for (const Reader& reader : kReaders) {
    if (name == reader.name) return reader;
    names.append(names.empty() ? "" : ", ").append(reader.name);
  }
  throw Error(ErrorKind::kUsage, "fuzz the reader", name, "there is none of that name",
              "readers: " + names);
}

}  // namespace gradwire::testing
