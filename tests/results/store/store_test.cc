#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "results/store/timeline_blob.h"
#include "tests/results/test_store.h"

using namespace gradwire::results;

namespace {

std::vector<TimelineSegment> two_segments() {
  return {{3, 0, 1, "forward", 1.5, 1.75, 0}, {3, 7, 255, "bucket 0", 1.6, 1.9, 123456789}};
}

}  // namespace

TEST_CASE("what is written is read back", "[store]") {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadWrite);
  const RunId id = store->begin_run(sample_header(7), 20);
  const std::vector<StepRow> steps = {sample_step(0), sample_step(1)};
  const std::vector<MetricRow> metrics = {{1, "accuracy", 0.5, "share", Provenance::kMeasured}};
  store->append(id, steps, metrics);

  SECTION("while it runs, another connection sees it") {
    const auto reader = Store::open(folder.file("a.db"), Store::Mode::kReadOnly);
    const auto run = reader->run(id);
    REQUIRE(run);
    CHECK(run->status == RunStatus::kRunning);
    CHECK(run->steps_done == 2);
    CHECK(run->steps_total == 20);
    CHECK(run->simulated_s == 0.5);  // two steps of 0.25 s
    CHECK_FALSE(run->final_loss);
    CHECK(reader->steps(id)[1].loss == 1.0);  // 2 / (1 + 1)
    const auto before = reader->data_version();
    CHECK(reader->data_version() == before);
    store->append(id, std::vector{sample_step(2)}, {});
    CHECK(reader->data_version() != before);
    CHECK(reader->run(id)->steps_done == 3);
  }
  SECTION("finished, with all its fields") {
    const std::vector<MetricRow> finals = {
        {-1, "final_loss", 0.25, "", Provenance::kMeasured},
        {-1, "final_accuracy", 0.95, "share", Provenance::kMeasured},
        {-1, "step_time_s", 0.25, "s", Provenance::kSimulated},
        {-1, "compression_ratio", 0.02, "", Provenance::kMeasured},
        {-1, "traffic_ratio", 0.08, "", Provenance::kSimulated},
        {-1, "wire_bytes", 2200, "B", Provenance::kSimulated}};
    store->finish_run(id, RunStatus::kFinished, "", "aa", "bb", finals);
    const auto runs = store->runs();
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].status == RunStatus::kFinished);
    CHECK(runs[0].header.scenario_json == sample_header(7).scenario_json);
    CHECK(runs[0].header.method == "topk 1%");
    CHECK(runs[0].header.seed == 7);
    CHECK(runs[0].header.workers == 8);
    CHECK(runs[0].final_accuracy == 0.95);
    CHECK(runs[0].compression_ratio == 0.02);
    CHECK(runs[0].traffic_ratio == 0.08);
    CHECK(runs[0].wire_bytes == 2200);
    CHECK_FALSE(runs[0].time_to_target_s);  // not reached is not zero
    CHECK(runs[0].learning_hash == "aa");
    CHECK(runs[0].timeline_hash == "bb");
    CHECK(runs[0].ended_at.size() == 20);
    const auto read = store->metrics(id);
    REQUIRE(read.size() == 7);
    CHECK(read[6].name == "accuracy");  // step 1 after step -1
    CHECK(read[6].provenance == Provenance::kMeasured);
    CHECK(store->integrity() == "ok");
  }
}

TEST_CASE("a diverged loss and a large seed survive", "[store]") {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadWrite);
  const RunId id = store->begin_run(sample_header(std::numeric_limits<std::uint64_t>::max()), 1);
  StepRow step = sample_step(0);
  step.loss = std::numeric_limits<double>::quiet_NaN();
  store->append(id, std::vector{step}, {});
  CHECK(std::isnan(store->steps(id)[0].loss));
  CHECK(store->run(id)->header.seed == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("append stores all rows or none", "[store]") {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadWrite);
  const RunId id = store->begin_run(sample_header(), 5);
  store->append(id, std::vector{sample_step(0)}, {});
  // Step 1 is new but step 0 is there: neither may be stored.
  CHECK_THROWS_AS(store->append(id, std::vector{sample_step(1), sample_step(0)}, {}), StoreError);
  CHECK(store->steps(id).size() == 1);
  CHECK(store->run(id)->steps_done == 1);
  CHECK_THROWS_WITH(store->append(id + 1, std::vector{sample_step(0)}, {}),
                    Catch::Contains("no such run"));
  CHECK_THROWS_WITH(store->tag(id + 1, "x", true), Catch::Contains("no such run"));
  CHECK_THROWS_WITH(store->finish_run(id + 1, RunStatus::kFinished, "", "", "", {}),
                    Catch::Contains("no such run"));
}

TEST_CASE("resume discards what is unfinished and keeps the rest", "[store]") {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadWrite);
  const RunId finished = store->begin_run(sample_header(1), 1);
  store->finish_run(finished, RunStatus::kFinished, "", "", "", {});
  const RunId partial = store->begin_run(sample_header(2), 1);
  store->append(partial, std::vector{sample_step(0)}, {});
  store->finish_run(partial, RunStatus::kPartial, "interrupted", "", "", {});
  const std::string latest = store->run(store->begin_run(sample_header(2), 1))->header.uid;
  const RunId other = store->begin_run(sample_header(2, "another"), 1);
  CHECK(store->find_ended("00c0ffee00c0ffee", 1) == finished);
  CHECK_FALSE(store->find_ended("00c0ffee00c0ffee", 2));
  store->tag(partial, "keep", true);
  store->tag(finished, "another's", true);
  const Predecessor gone = store->discard_unfinished("00c0ffee00c0ffee", 2);
  CHECK(gone.tags == std::vector<std::string>{"keep"});
  CHECK(gone.uid == latest);
  CHECK(store->discard_unfinished("00c0ffee00c0ffee", 2).uid.empty());
  const auto runs = store->runs();
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].id == finished);
  CHECK(runs[1].id == other);
  CHECK(store->steps(partial).empty());  // removed with its run
  CHECK(store->integrity() == "ok");
}

TEST_CASE("a run that diverged has ended: resume keeps it and finds it", "[store]") {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadWrite);
  const RunId run = store->begin_run(sample_header(1), 5);
  store->finish_run(run, RunStatus::kDiverged, "at step 1", "", "", {});
  store->discard_unfinished("00c0ffee00c0ffee", 1);
  CHECK(store->find_ended("00c0ffee00c0ffee", 1) == run);
  CHECK(name_of(store->run(run)->status) == "diverged");
}

TEST_CASE("a run's checkpoint is replaced, and goes with its run", "[store]") {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadWrite);
  const RunId run = store->begin_run(sample_header(1), 5);
  CHECK_FALSE(store->checkpoint(run));
  store->put_checkpoint(run, {1, "a.db.checkpoints/x", 100, {}});
  store->put_checkpoint(run, {2, "a.db.checkpoints/x", 200, {}});
  const auto found = store->checkpoint(run);
  REQUIRE(found);
  CHECK(found->steps == 2);
  CHECK(found->bytes == 200);
  CHECK(found->folder == "a.db.checkpoints/x");
  CHECK_FALSE(found->saved_at.empty());
  store->remove_checkpoint(run);
  CHECK_FALSE(store->checkpoint(run));
  store->put_checkpoint(run, {2, "a.db.checkpoints/x", 200, {}});
  store->remove_run(run);
  CHECK_FALSE(store->checkpoint(run));
  CHECK_THROWS_WITH(store->put_checkpoint(run, {}), Catch::Contains("no such run"));
}

TEST_CASE("tags and removal", "[store]") {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadWrite);
  const RunId first = store->begin_run(sample_header(1), 1);
  const RunId second = store->begin_run(sample_header(2), 1);
  store->tag(second, "paper", true);
  store->tag(second, "keep", true);
  store->tag(second, "keep", true);
  CHECK(store->runs()[1].tags == std::vector<std::string>{"keep", "paper"});
  CHECK(store->runs()[0].tags.empty());
  store->tag(second, "keep", false);
  CHECK(store->run(second)->tags == std::vector<std::string>{"paper"});
  CHECK_THROWS_AS(store->tag(second, "a,b", true), gradwire::Error);
  store->remove_run(second);
  CHECK_FALSE(store->run(second));
  CHECK(store->run(first));
  CHECK_THROWS_AS(store->remove_run(second), StoreError);
}

TEST_CASE("timelines are stored packed and read back to a picosecond", "[store]") {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadWrite);
  const RunId id = store->begin_run(sample_header(), 1);
  auto segments = two_segments();
  segments.push_back({2, 1, 2, "encode", 0.5, 0.5000000001, -1});
  store->put_timeline(id, "simulated", segments);
  const auto read = store->timeline(id);
  REQUIRE(read.size() == 3);
  CHECK(read[0].step == 2);
  CHECK(read[0].end_s == Approx(0.5000000001).epsilon(1e-12));
  CHECK(read[1].label == "forward");
  CHECK(read[2].worker == 7);
  CHECK(read[2].lane == 255);
  CHECK(read[2].bytes == 123456789);
  CHECK(std::abs(read[2].start_s - 1.6) < 1e-12);
  CHECK(std::abs(read[2].end_s - 1.9) < 1e-12);
  CHECK(store->timeline_provenance(id) == "simulated");
  // Replaces the step it names and leaves the other.
  store->put_timeline(id, "simulated", two_segments());
  CHECK(store->timeline(id).size() == 3);
}

TEST_CASE("the packed layout is the documented one", "[store]") {
  // layout 1; base 0.0; one label "a"; one segment: label 0, worker 1 (zigzag 2), lane 3,
  // start 0, duration 2 ps (zigzag 4), 5 bytes (zigzag 10).
  const std::vector<TimelineSegment> one = {{0, 1, 3, "a", 0.0, 2e-12, 5}};
  const auto data = pack_timeline(one);
  std::vector<int> bytes;
  for (const std::byte byte : data) bytes.push_back(std::to_integer<int>(byte));
  CHECK(bytes == std::vector<int>{1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 'a', 1, 0, 2, 3, 0, 4, 10});
}

TEST_CASE("damaged timeline data is refused at every length", "[store]") {
  const auto data = pack_timeline(two_segments());
  std::vector<TimelineSegment> out;
  for (std::size_t size = 0; size < data.size(); ++size)
    CHECK_THROWS_AS(unpack_timeline(std::span(data).first(size), 3, "run 1", out), StoreError);
  out.clear();
  unpack_timeline(data, 3, "run 1", out);
  CHECK(out.size() == 2);
  const std::vector<TimelineSegment> bad = {{0, 0, 0, "x", 0, std::nan(""), 0}};
  CHECK_THROWS_AS(pack_timeline(bad), StoreError);
}

TEST_CASE("a timeline of many operations stays small", "[store]") {
  // 64 workers x 100 operations a step, 10 us apart: under 16 bytes each.
  std::vector<TimelineSegment> segments;
  for (int op = 0; op < 100; ++op)
    for (int worker = 0; worker < 64; ++worker)
      segments.push_back({0, worker, 1, "op " + std::to_string(op % 5), 1e-5 * op + 1e-7 * worker,
                          1e-5 * op + 9e-6, 4096});
  CHECK(pack_timeline(segments).size() < segments.size() * 16);
}
