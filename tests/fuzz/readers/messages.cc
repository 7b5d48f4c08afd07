#include "tests/fuzz/readers/groups.h"
#include "tests/fuzz/readers/inputs.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/file_descriptor.h"
#include "base/temporary_file.h"
#include "bridge/chakra/groups.h"
#include "bridge/chakra/traces.h"
#include "bridge/kineto/events.h"
#include "sim/packet/wire_format.h"
#include "tests/bridge/chakra/trace_bytes.h"
#include "tests/bridge/kineto/trace_text.h"
#include "tests/trainers/replays/recorded_text.h"
#include "trainers/replays/recorded_graph.h"
#ifdef GRADWIRE_FUZZ_EMULATOR
#include "emulator/hub/answers.h"
#include "emulator/hub/frame.h"
#include "emulator/lab/lab.h"
#endif

namespace gradwire::testing {
namespace {

using nlohmann::json;

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

/// What ranks of a script tell, whole and cut off.
Inputs recording_seeds() {
  RecordedText text(3);
  text.add_group(0, "1", "0,2");
  text.add_group(2, "1", "0,2");
  for (int rank = 0; rank < 3; ++rank) {
    text.wait(rank, 0.5, text.call(rank, 0.1, members("all-reduce", 1000, ",\"o\":\"sum\"")));
    text.call(rank, 0, ",\"k\":\"barrier\"");
    text.step(rank, 0.2);
  }
  for (const int rank : {0, 2}) text.call(rank, 0, members("broadcast", 10, ",\"p\":0"), "1");
  const std::string cut_off = text.text();
  for (int rank = 0; rank < 3; ++rank) text.end(rank);
  return {bytes_of(text.text()), bytes_of(cut_off)};
}
bool read_recording(std::span<const std::byte> bytes) {
  return takes([&] {
    const bridge::Recording recording = bridge::parse_recording(text_of(bytes), "a.jsonl");
    const trainers::RecordedSteps steps(recording, "a.jsonl");
    trainers::RecordedGraph graph(steps);
    for (std::int64_t step = 0; step < steps.size(); ++step) graph.next();
  });
}

/// Profilers' traces: of a CPU, of a GPU.
Inputs trace_seeds() {
  TraceText cpu, gpu(1, 4, "nccl");
  cpu.step(0, 100);
  cpu.operation(0, 20);
  cpu.all_reduce(20, 21, 1000, true);
  cpu.gloo_work(21, 60, 1000);
  cpu.copy_back(61, 65, 1000);
  gpu.add("user_annotation", "Optimizer.step#SGD.step", 0, 1);
  gpu.kernel(2, 3, 40);
  gpu.nccl_all_reduce(4, 9, 41, 60, 1000);
  gpu.kernel(10, 61, 70);
  gpu.add("user_annotation", "Optimizer.step#SGD.step", 71, 80);
  TraceText groupless = cpu;
  groupless.json()["distributedInfo"].erase("pg_config");
  return {bytes_of(cpu.text()), bytes_of(gpu.text()), bytes_of(groupless.text())};
}
bool read_trace(std::span<const std::byte> bytes) {
  return takes([&] {
    bridge::kineto::events_of(bridge::kineto::parse_trace(text_of(bytes), "a.json"), "a.json");
  });
}

/// A rank's file, as ours and as others write them.
Inputs chakra_seeds() {
  RecordedText text(2);
  for (int rank = 0; rank < 2; ++rank) {
    text.wait(rank, 0.5, text.call(rank, 0.1, members("all-reduce", 1000, ",\"o\":\"sum\"")));
    text.step(rank, 0.25);
    text.end(rank);
  }
  const TemporaryFolder folder;
  bridge::chakra::write_traces(bridge::parse_recording(text.text(), "a.jsonl"), folder.path(), "a");
  const std::string lanes = computes(1, truth("is_cpu_op", true) + lasts(10)) +
                            computes(2, truth("is_cpu_op", false) + lasts(300) + after({1})) +
                            reduces(3, 100, words("pg_name", "a") + after({1})) +
                            node(4, 2, lasts(5) + after({3})) + node(5, 1, after({2, 4}));
  const std::string counted = computes(1, whole("num_ops", 1000) + whole("tensor_size", 64)) +
                              reduces(2, 100, truths("involved_dim", "\x01\x01") + after({1}));
  return {bytes_of(read_file(folder.file("a.0.et"))), bytes_of(chakra_head() + lanes),
          bytes_of(chakra_head("0.0.4") + counted)};
}
/// Of two ranks alike, as far as their steps.
bool read_chakra(std::span<const std::byte> bytes) {
  const TemporaryFolder folder;
  for (const char* name : {"a.0.et", "a.1.et"}) write_file(folder.file(name), text_of(bytes));
  return takes([&] {
    const bridge::Recording recording = bridge::read_recording(folder.path());
    const trainers::RecordedSteps steps(recording, "a");
    trainers::RecordedGraph graph(steps);
    for (std::int64_t step = 0; step < steps.size(); ++step) graph.next();
  });
}

Inputs group_seeds() {
  return {bytes_of(R"({"0": [0, 1], "1": [3, 2]})"), bytes_of(R"({"topology": ["Ring"]})")};
}
bool read_groups(std::span<const std::byte> bytes) {
  const TemporaryFolder folder;
  write_file(folder.file("comm_group.json"), text_of(bytes));
  std::vector<std::string> other;
  return takes([&] { bridge::chakra::groups_in(folder.path(), 4, other); });
}

#ifdef GRADWIRE_FUZZ_EMULATOR
Inputs emulator_seeds() {
  return {cbor({{"kind", "report"},
                {"graph", 1},
                {"op", 2},
                {"start", 0.5},
                {"sent", {100, 140, 1, 0}},
                {"source", 0},
                {"end", 0.75}}),
          cbor({{"kind", "counters"}, {"host", 1}, {"connections", {{0, 1000, 2}}}})};
}
bool read_emulator(std::span<const std::byte> bytes) {
  return takes([&] {
    emulator::Frame sent{0, {bytes.begin(), bytes.end()}};
    emulator::FrameBuffer stream;
    stream.append(emulator::encode_frame(sent));
    const json message = stream.next().value().message();
    const std::string kind = emulator::kind_of(message);
    if (kind == "report") emulator::operation_report_from_json(message);
    if (kind == "counters") emulator::host_counters_from_json(message, 2);
  });
}

/// A stream of frames from its first byte on.
Inputs frames_seeds() {
  return {emulator::encode_frame(0, {{"kind", "pong"}, {"times", json::array()}})};
}
bool read_frames(std::span<const std::byte> bytes) {
  return takes([&] {
    emulator::FrameBuffer stream;
    stream.append(bytes);
    while (const auto frame = stream.next()) emulator::kind_of(frame->message());
  });
}

Inputs lab_seeds() {
  emulator::LabResult result;
  result.transfers = {{{0.5, 0.75}, {1, 1.25}}};
  result.retransmissions = {3};
  result.late_in = {1e-6, 2e-6};
  result.kernel = "6.1";
  result.priority = "normal";
  return {cbor(emulator::to_json(result))};
}
bool read_lab(std::span<const std::byte> bytes) {
  return takes([&] {
    const json message = emulator::understood("the lab's answer", [&] {
      const auto* const begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
      return json::from_cbor(begin, begin + bytes.size());
    });
    emulator::lab_result_from_json(message);
  });
}
#endif

constexpr Reader kReaders[] = {
    {"answer", answer_seeds, read_answer},
    {"recording", recording_seeds, read_recording},
    {"profiler-trace", trace_seeds, read_trace},
    {"chakra-trace", chakra_seeds, read_chakra},
    {"chakra-groups", group_seeds, read_groups},
#ifdef GRADWIRE_FUZZ_EMULATOR
    {"emulator", emulator_seeds, read_emulator},
    {"emulator-frames", frames_seeds, read_frames},
    {"lab", lab_seeds, read_lab},
#endif
};

}  // namespace

std::span<const Reader> message_readers() {
  return kReaders;
}

}  // namespace gradwire::testing
