#include "tests/fuzz/readers/row_reader.h"

#include <charconv>

#include "base/temporary_file.h"
#include "results/store/sqlite.h"
#include "results/store/store.h"
#include "results/store/timeline_blob.h"

namespace gradwire::testing {
namespace {

using namespace gradwire::results;

/// One finished run with a row in each table.
class SmallDatabase {
 public:
  SmallDatabase() {
    const auto store = Store::open(path(), Store::Mode::kReadWrite);
    const RunId run = store->begin_run(header(), 2);
    store->append(
        run, std::vector<StepRow>{{.step = 0, .loss = 2, .end_s = 0.5}},
        std::vector<MetricRow>{{.name = "final_accuracy", .value = 0.5, .unit = "share"}});
    store->put_timeline(run, "simulated",
                        std::vector<TimelineSegment>{{.label = "forward", .end_s = 0.5}});
    LinkSeries link;
    link.name = "worker0 -> switch";
    link.rate_bps = 1e9;
    link.intervals.push_back({0, 0.5, 1000});
    store->put_links(run, std::vector{link});
    CheckpointRow checkpoint;
    checkpoint.steps = 1;
    checkpoint.folder = "a.db.checkpoints/x";
    store->put_checkpoint(run, checkpoint);
    store->tag(run, "kept", true);
    store->finish_run(run, RunStatus::kFinished, "", "0011", "2233", {});
    original_ = folder_.file("original.db");
    store->copy_to(original_);
  }
  std::string path() const { return folder_.file("a.db"); }

  void put(const std::string& table, const std::string& column, std::string_view value) const {
    const Connection connection(path(), Connection::Access::kReadWrite, 0);
    Statement update(connection, "UPDATE " + table + " SET " + column + " = ?1", "change");
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc() && end == value.data() + value.size())
      update.bind(1, number);
    else if (column == "data")
      update.bind(1, std::as_bytes(std::span(value)));
    else
      update.bind(1, value);
    update.run();
  }
  void read_all() const {
    const auto store = Store::open(path(), Store::Mode::kReadOnly);
    for (const RunSummary& run : store->runs()) {
      store->steps(run.id);
      store->metrics(run.id);
      store->checkpoint(run.id);
      store->timeline_provenance(run.id);
      store->timeline(run.id);
      store->links(run.id);
    }
  }
  void restore() const {
    const Connection from(original_, Connection::Access::kReadOnly, 0);
    from.copy_to(Connection(path(), Connection::Access::kReadWrite, 0), "restore");
  }

 private:
  static RunHeader header() {
    RunHeader header;
    header.scenario_hash = "00c0ffee00c0ffee";
    header.scenario_json = R"({"name": "sample", "workload": {"model": "lenet5"}})";
    header.scenario_name = "sample";
    header.method = "topk 1%";
    header.executor = "flow";
    header.workers = 8;
    return header;
  }

  TemporaryFolder folder_;
  std::string original_;
};

const SmallDatabase& database() {
  static const SmallDatabase small;
  return small;
}

/// Only names: what stands before the value is no statement of its own.
bool is_name(std::string_view text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == text.npos;
}

}  // namespace

Inputs row_seeds() {
  const std::vector<TimelineSegment> segments = {{.worker = 1, .label = "forward", .end_s = 0.5}};
  const std::vector<std::byte> timeline = pack_timeline(segments);
  Inputs inputs = {bytes_of("runs.workers=8"),
                   bytes_of("runs.status=partial"),
                   bytes_of("runs.started_at=2026-01-01T00:00:00Z"),
                   bytes_of("runs.simulated_s=17"),
                   bytes_of("scenarios.json={\"name\": \"other\"}"),
                   bytes_of("steps.loss=3"),
                   bytes_of("metrics.provenance=measured"),
                   bytes_of("metrics.value=text"),
                   bytes_of("timelines.segments=2"),
                   bytes_of("timelines.data="),
                   bytes_of("links.rate_bps=5"),
                   bytes_of("checkpoints.folder=../x"),
                   bytes_of("tags.tag=<b>")};
  inputs[9].insert(inputs[9].end(), timeline.begin(), timeline.end());
  return inputs;
}

bool read_row(std::span<const std::byte> bytes) {
  const std::string_view text = text_of(bytes);
  const std::size_t dot = std::min(text.find('.'), text.size());
  const std::size_t equals = std::min(text.find('=', dot), text.size());
  if (equals == text.size()) return false;
  const std::string table(text.substr(0, dot)), column(text.substr(dot + 1, equals - dot - 1));
  if (!is_name(table) || !is_name(column)) return false;
  const bool taken = takes([&] {
    database().put(table, column, text.substr(equals + 1));
    database().read_all();
  });
  database().restore();
  return taken;
}

}  // namespace gradwire::testing
