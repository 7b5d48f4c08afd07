#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "base/file_descriptor.h"
#include "results/store/schema.h"
#include "tests/results/test_store.h"
#include "tests/store_rows.h"

using namespace gradwire::results;
using Catch::Contains;

namespace {

constexpr auto kWrite = Store::Mode::kReadWrite;
constexpr auto kRead = Store::Mode::kReadOnly;

/// A run with rows in every table.
RunId add_run(Store& store, std::uint64_t seed, RunStatus status = RunStatus::kFinished) {
  RunHeader header = sample_header(seed);
  header.node = "node" + std::to_string(seed);
  header.rank = static_cast<int>(seed);
  const RunId id = store.begin_run(header, 3);
  StepRow diverged = sample_step(1);
  diverged.loss = std::numeric_limits<double>::quiet_NaN();
  store.append(id, std::vector{sample_step(0), diverged},
               std::vector<MetricRow>{{0, "accuracy", 0.5, "", Provenance::kMeasured}});
  store.put_timeline(id, "simulated",
                     std::vector<TimelineSegment>{{0, 1, 1, "forward", 0, 0.1 * double(seed), 5}});
  store.put_links(id, std::vector<LinkSeries>{{3, "a -> b", 1e9, {{0, 1, 100}}}});
  store.tag(id, "seed " + std::to_string(seed), true);
  if (status != RunStatus::kRunning)
    store.finish_run(id, status, "", "l", "t",
                     std::vector<MetricRow>{{-1, "step_time_s", 1, "s", Provenance::kSimulated}});
  return id;
}

using Rows = std::multiset<std::multiset<std::string>>;

/// In whatever order the runs are.
Rows rows_of(const std::string& path) {
  const auto runs = gradwire::testing::rows_by_run(path);
  return {runs.begin(), runs.end()};
}

Rows united(Rows one, const Rows& other) {
  one.insert(other.begin(), other.end());
  return one;
}

/// A database of version 4 with `runs` runs.
void make_old(const std::string& path, int runs) {
  const Connection old(path, Connection::Access::kCreate, 0);
  migrate(old, migrations().first(4));
  old.execute(
      "INSERT INTO scenarios (id, digest, hash, name, file, json) VALUES (1,'d','h','n','f','{}')",
      "test");
  for (int run = 1; run <= runs; ++run)
    old.execute(
        "INSERT INTO runs (scenario_id, scenario_hash, seed, method, executor, model, data_set, "
        "workers, host, version, device, compute_provenance, status, started_at, steps_total) "
        "VALUES (1, 'h', 1, 'none', 'flow', 'm', '', 8, 'box, CPU (2 cores)', 'v', 'd', "
        "'measured', 'finished', '2026-01-01T00:00:00Z', 3)",
        "test");
}

/// The merging target and two sources, a run more in the second.
struct Databases {
  Databases() {
    for (const std::uint64_t seed : {1, 2}) add_run(*Store::open(a, kWrite), seed);
    for (const std::uint64_t seed : {3, 4, 5}) add_run(*Store::open(b, kWrite), seed);
  }
  TemporaryFolder folder;
  std::string a = folder.file("a.db"), b = folder.file("b.db"), target = folder.file("t.db");
};

}  // namespace

TEST_CASE("merged, every row of every table is there; merging again adds nothing", "[store]") {
  const Databases all;
  const auto store = Store::open(all.target, kWrite);
  add_run(*store, 9);
  const auto before = rows_of(all.target);
  CHECK(store->merge(all.a).counts.added == 2);
  const MergeResult second = store->merge(all.b);
  CHECK(second.counts.added == 3);
  CHECK(second.runs == std::vector<RunId>{4, 5, 6});
  const auto merged = rows_of(all.target);
  CHECK(merged == united(united(before, rows_of(all.a)), rows_of(all.b)));
  for (const std::string& source : {all.a, all.b}) {
    const MergeCounts again = store->merge(source).counts;
    CHECK(again.added == 0);
    CHECK(again.replaced == 0);
    CHECK(again.present == (source == all.a ? 2 : 3));
  }
  CHECK(rows_of(all.target) == merged);
  CHECK(store->integrity() == "ok");
  CHECK(store->run(4)->header.node == "node3");
  CHECK(store->run(4)->header.rank == 3);
  // The comparison sees a single figure that differs.
  Connection(all.a, Connection::Access::kReadWrite, 0)
      .execute("UPDATE metrics SET value = value + 1e-12 WHERE run_id = 2 AND step = 0", "test");
  CHECK(rows_of(all.target) != united(united(before, rows_of(all.a)), rows_of(all.b)));
}

TEST_CASE("runs are merged in the order that is asked for", "[store]") {
  const Databases all;
  const auto store = Store::open(all.target, kWrite);
  CHECK(store->merge(all.b, {.runs = std::vector<RunId>{3, 1}}).runs == std::vector<RunId>{1, 2});
  CHECK(store->run(1)->header.seed == 5);
  CHECK(store->run(2)->header.seed == 3);
  CHECK_THROWS_WITH(store->merge(all.b, {.runs = std::vector<RunId>{2, 77}}),
                    Contains("run 77") && Contains("no such run"));
  CHECK(store->runs().size() == 2);  // run 2 was not stored either
}

TEST_CASE("an unfinished run that has ended since is replaced, and keeps number and tags",
          "[store]") {
  const TemporaryFolder folder;
  const auto source = Store::open(folder.file("a.db"), kWrite);
  const auto target = Store::open(folder.file("t.db"), kWrite);
  const RunId begun = add_run(*source, 1, RunStatus::kRunning);
  CHECK(target->merge(folder.file("a.db")).counts.running == 1);
  CHECK(target->runs().empty());
  source->put_checkpoint(begun, {2, "a.db.checkpoints/x", 10, {}});
  source->finish_run(begun, RunStatus::kPartial, "", "", "", {});
  const MergeCounts partial = target->merge(folder.file("a.db")).counts;
  CHECK(partial.added == 1);
  CHECK(partial.partial == 1);
  CHECK_FALSE(target->checkpoint(1));  // it lies beside the source
  target->tag(1, "mine", true);
  const RunId other = add_run(*target, 7);

  // As --resume does it.
  const Predecessor before = source->discard_unfinished(sample_header().scenario_hash, 1);
  RunHeader header = sample_header(1);
  header.uid = before.uid;
  const RunId resumed = source->begin_run(header, 3);
  source->append(resumed, std::vector{sample_step(0), sample_step(1), sample_step(2)}, {});
  source->finish_run(resumed, RunStatus::kFinished, "", "", "", {});
  source->tag(resumed, "theirs", true);
  const MergeCounts ended = target->merge(folder.file("a.db")).counts;
  CHECK(ended.replaced == 1);
  CHECK(ended.added == 0);
  CHECK(target->run(1)->status == RunStatus::kFinished);
  CHECK(target->steps(1).size() == 3);
  CHECK(target->run(1)->tags == std::vector<std::string>{"mine", "seed 1", "theirs"});
  CHECK(target->run(other)->header.seed == 7);
  CHECK(target->runs().size() == 2);
  CHECK(target->merge(folder.file("a.db")).counts.present == 1);
  CHECK(target->integrity() == "ok");
  // A copy that is behind changes nothing here.
  const auto back = Store::open(folder.file("back.db"), kWrite);
  header.uid = before.uid;
  back->finish_run(back->begin_run(header, 3), RunStatus::kPartial, "", "", "", {});
  CHECK(target->merge(folder.file("back.db")).counts.present == 1);
  CHECK(target->steps(1).size() == 3);
}

TEST_CASE("a source of an older schema is read in a copy, and copies agree who is who", "[store]") {
  const TemporaryFolder folder;
  make_old(folder.file("old.db"), 2);
  const std::string bytes = gradwire::read_file(folder.file("old.db"));
  std::filesystem::copy(folder.file("old.db"), folder.file("copy.db"));
  const auto target = Store::open(folder.file("t.db"), kWrite);
  CHECK(target->merge(folder.file("old.db")).counts.added == 2);
  CHECK(gradwire::read_file(folder.file("old.db")) == bytes);
  CHECK(target->run(1)->header.node == "box");
  CHECK_FALSE(target->run(1)->header.rank);
  CHECK(target->run(1)->header.uid.size() == 32);
  CHECK(target->run(1)->header.uid != target->run(2)->header.uid);
  { Store::open(folder.file("copy.db"), kWrite); }  // brought up to date by itself
  CHECK(target->merge(folder.file("copy.db")).counts.present == 2);
  // Another database of the same runs but one more: that one is new.
  make_old(folder.file("longer.db"), 3);
  CHECK(target->merge(folder.file("longer.db")).counts.added == 1);
}

TEST_CASE("a source that is being written to is merged as far as it is committed", "[store]") {
  const TemporaryFolder folder;
  const auto source = Store::open(folder.file("a.db"), kWrite);
  add_run(*source, 1);
  const Connection writer(folder.file("a.db"), Connection::Access::kReadWrite, 0);
  const Transaction writing(writer, Transaction::Kind::kWrite, "test");
  writer.execute("UPDATE runs SET error = 'half'", "test");
  const auto target = Store::open(folder.file("t.db"), kWrite);
  CHECK(target->merge(folder.file("a.db")).counts.added == 1);
  CHECK(target->run(1)->error.empty());
}

TEST_CASE("what cannot be merged is named, and nothing of it is stored", "[store]") {
  const Databases all;
  const auto store = Store::open(all.target, kWrite);
  store->merge(all.a);
  const auto before = rows_of(all.target);
  const auto refuses = [&](const std::string& source, const std::string& reason) {
    CAPTURE(source);
    CHECK_THROWS_WITH(store->merge(source), Contains(source) && Contains(reason));
    CHECK(rows_of(all.target) == before);
  };
  refuses(all.folder.file("missing.db"), "no such file");
  refuses(all.target, "the database that the runs go into");
  std::filesystem::create_symlink(all.target, all.folder.file("link.db"));
  refuses(all.folder.file("link.db"), "the database that the runs go into");
  refuses(all.folder.path(), "it is a folder");
  gradwire::write_file(all.folder.file("text.db"), std::string(5000, 'x'));
  refuses(all.folder.file("text.db"), "not a SQLite database");
  Connection(all.b, Connection::Access::kReadWrite, 0).execute("PRAGMA user_version=99", "test");
  refuses(all.b, "newer Gradwire");
  std::string bytes = gradwire::read_file(all.a);
  for (std::size_t i = 5 * 4096; i < bytes.size(); ++i) bytes[i] = static_cast<char>(0xA5);
  gradwire::write_file(all.folder.file("damaged.db"), bytes);
  refuses(all.folder.file("damaged.db"), "damaged");
  CHECK_THROWS_WITH(Store::open(all.target, kRead)->merge(all.a), Contains("for reading only"));
}

TEST_CASE("a disk that fills up while merging loses nothing and stores nothing", "[store]") {
  const TemporaryFolder folder;
  {
    const auto source = Store::open(folder.file("a.db"), kWrite);
    for (std::uint64_t seed = 1; seed < 300; ++seed) add_run(*source, seed);
  }
  const auto store = Store::open(folder.file("t.db"), kWrite, {.max_bytes = 120'000});
  add_run(*store, 1000);
  CHECK_THROWS_WITH(store->merge(folder.file("a.db")), Contains("disk is full"));
  CHECK(store->runs().size() == 1);
  CHECK(store->integrity() == "ok");
  const auto larger = Store::open(folder.file("t.db"), kWrite);
  CHECK(larger->merge(folder.file("a.db")).counts.added == 299);
}

TEST_CASE("a store in memory is copied to a file as it is", "[store]") {
  const TemporaryFolder folder;
  const auto store = Store::in_memory();
  add_run(*store, 1);
  store->copy_to(folder.file("copy.db"));
  const auto target = Store::open(folder.file("t.db"), kWrite);
  CHECK(target->merge(folder.file("copy.db"), {.trusted = true}).counts.added == 1);
  CHECK(rows_of(folder.file("copy.db")) == rows_of(folder.file("t.db")));
  CHECK(target->run(1)->header.uid == store->run(1)->header.uid);
}
