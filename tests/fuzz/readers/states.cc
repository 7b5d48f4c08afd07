#include "tests/fuzz/readers/groups.h"
#include "tests/fuzz/readers/inputs.h"

#include "compressors/codec.h"
#include "compressors/crc32c.h"
#include "compressors/model_file.h"
#include "results/store/timeline_blob.h"
#include "runner/checkpoints/run_state.h"
#include "runner/checkpoints/submission_log.h"
#include "tests/fuzz/readers/row_reader.h"

namespace gradwire::testing {
namespace {

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

/// Takes all that a schedule asks, and nothing ever happens.
class SilentSession final : public scenarios::Session {
 public:
  sim::GraphId submit(scenarios::Work work) override {
    kept_ = std::move(work);
    return next_++;
  }
  void cancel(sim::GraphId) override {}
  void drop(sim::GraphId) override {}
  void wake_at(Seconds, std::uint64_t) override {}
  void close(scenarios::StepReport) override {}
  Seconds now() const override { return Seconds(0); }
  const sim::Timeline& timeline(sim::GraphId) const override { return timeline_; }
  std::span<const sim::MissingData> missing(sim::GraphId) const override { return {}; }

 private:
  scenarios::Work kept_;
  sim::Timeline timeline_;
  sim::GraphId next_ = 1;
};

/// What a run wrote down of its requests. A checkpoint's check sum covers it: these are the bytes
/// behind it.
Inputs log_seeds() {
  sim::GraphBuilder builder;
  const auto work = builder.add_operation(sim::OpKind::kCompute, sim::Lane::kCompute, 1, "work");
  const auto sent = builder.add_transfer(1, 0, "move", {}, std::vector{work});
  sim::CollectiveSpec ring;
  ring.kind = sim::CollectiveKind::kRingAllReduce;
  ring.members = {0, 1};
  ring.elements = 100;
  builder.add_collective(ring, "sum", std::vector{sent});
  const sim::GraphPtr graph = builder.finish();
  const std::vector<Bytes> bytes(graph->bytes_begin.back(), Bytes(400));
  const std::vector<Seconds> seconds(graph->size(), Seconds(0.1));
  return {written([&](std::ostream& out) {
    SilentSession inner;
    runner::GraphBook graphs;
    std::uint64_t stimuli = 0;
    runner::RecordedSession session(inner, out, graphs, stimuli);
    const sim::GraphId first = session.submit({graph, bytes, seconds, {}});
    stimuli = 1;
    session.submit({graph, bytes, seconds, {{{first, 0}, 1}}});
    session.wake_at(Seconds(1), 7);
    session.cancel(first);
    scenarios::StepReport report;
    report.graphs = {first};
    report.figures = {{"accuracy", 0.5, "share"}};
    session.close(report);
    stimuli = 2;
    session.drop(first + 1);
  })};
}
bool read_log(std::span<const std::byte> bytes) {
  return takes([&] {
    std::istringstream in{std::string(text_of(bytes))};
    SilentSession session;
    runner::GraphBook graphs;
    runner::ReplayedSchedule schedule(in, graphs, 8);
    schedule.start(session);
    while (!schedule.finished()) schedule.on_wake(0, session);
  });
}

Inputs run_state_seeds() {
  runner::RunState state{.stimuli = 9, .wall_s = 1.5, .summarized = 3};
  state.profile.provenance = "measured";
  state.profile.buckets.push_back({.name = "fc", .elements = 100});
  return {written([&](std::ostream& out) { runner::save_state(state, out); })};
}
bool read_run_state(std::span<const std::byte> bytes) {
  return takes([&] {
    std::istringstream in{std::string(text_of(bytes))};
    runner::load_state(in);
  });
}

constexpr Reader kReaders[] = {
    {"row", row_seeds, read_row},
    {"timeline", timeline_seeds, read_timeline},
    {"model", model_seeds, read_model},
    {"checkpoint-log", log_seeds, read_log},
    {"checkpoint-state", run_state_seeds, read_run_state},
};

}  // namespace

std::span<const Reader> state_readers() {
  return kReaders;
}

}  // namespace gradwire::testing
