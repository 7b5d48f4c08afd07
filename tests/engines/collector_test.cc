#include "engines/collector.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/temporary_file.h"
#include "engines/parts_folder.h"
#include "tests/engines/sweep_parts.h"

using namespace gradwire;
using namespace gradwire::testing;
using results::RunStatus;
using results::Store;

namespace {

/// Notes whom it was told of, by place.
class Told final : public runner::RunObserver {
 public:
  void on_run_ended(const runner::RunProgress& progress, const results::RunSummary&,
                    bool skipped) override {
    (skipped ? skipped_ : ended).push_back(progress.run - 1);
  }
  void on_run_failed(const runner::RunProgress& progress, const std::string&) override {
    failed.push_back(progress.run - 1);
  }
  std::vector<int> ended, skipped_, failed;
};

struct Sweep {
  explicit Sweep(bool resume = false) : collector(file, resume, *store, told) {}
  std::string part(const std::string& name) const { return folder.file("part-" + name + ".db"); }
  std::vector<std::size_t> stored() const {
    std::vector<std::size_t> places;
    for (const auto& run : store->runs())
      for (std::size_t place = 0; place < file.runs.size(); ++place)
        if (file.runs[place].hash == run.header.scenario_hash &&
            file.runs[place].seed == run.header.seed)
          places.push_back(place);
    return places;
  }

  TemporaryFolder folder;
  scenarios::ScenarioFile file = eight_runs();
  std::unique_ptr<Store> store = Store::open(folder.file("t.db"), Store::Mode::kReadWrite);
  Told told;
  engines::Collector collector;
};

}  // namespace

TEST_CASE("what cannot be written beside the database is the database's trouble", "[unit]") {
  const TemporaryFolder folder;
  const auto kind_of = [](auto&& write) {
    try {
      write();
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::kGate;  // it was written
  };
  write_file(folder.file("file"), "");
  CHECK(kind_of([&] { engines::PartsFolder(folder.file("file")); }) == ErrorKind::kStore);
  const engines::PartsFolder parts(folder.file("a.db.parts"));
  CHECK(kind_of([&] { parts.write("work", "1"); }) == ErrorKind::kGate);
  std::filesystem::create_directory(parts.file("settings"));  // no file can take its place
  CHECK(kind_of([&] { parts.write("settings", "1"); }) == ErrorKind::kStore);
}

TEST_CASE("parts that come in any order are stored in the sweep's", "[unit]") {
  Sweep sweep;
  sweep.collector.take(make_part(sweep.part("b"), sweep.file, {2, 3, 6}));
  CHECK(sweep.stored().empty());  // 0 and 1 may still come
  sweep.collector.take(make_part(sweep.part("a"), sweep.file, {0, 1}));
  CHECK(sweep.stored() == std::vector<std::size_t>{0, 1, 2, 3});
  CHECK(std::filesystem::exists(sweep.part("b")));  // 6 waits in it
  CHECK_FALSE(std::filesystem::exists(sweep.part("a")));
  CHECK(sweep.collector.missing() == std::vector<std::size_t>{4, 5, 7});
  sweep.collector.finish();
  CHECK(sweep.stored() == std::vector<std::size_t>{0, 1, 2, 3, 6});
  CHECK_FALSE(std::filesystem::exists(sweep.part("b")));
  CHECK(sweep.told.ended == std::vector<int>{0, 1, 2, 3, 6});
  CHECK(sweep.collector.result().runs.size() == 5);
}

TEST_CASE("a run that two processes bring is stored once", "[unit]") {
  Sweep sweep;
  sweep.collector.take(make_part(sweep.part("a"), sweep.file, {0, 1}));
  sweep.collector.take(make_part(sweep.part("b"), sweep.file, {1, 2}));
  sweep.collector.take(make_part(sweep.part("c"), sweep.file, {0}));
  CHECK(sweep.stored() == std::vector<std::size_t>{0, 1, 2});
  CHECK_FALSE(std::filesystem::exists(sweep.part("c")));
}

TEST_CASE("of a part whose report was lost, what has ended counts", "[unit]") {
  Sweep sweep;
  make_part(sweep.part("a"), sweep.file, {0, 1});
  sweep.collector.take_unreported(sweep.part("a"));
  make_part(sweep.part("b"), sweep.file, {2}, RunStatus::kPartial);
  sweep.collector.take_unreported(sweep.part("b"));
  CHECK(sweep.stored() == std::vector<std::size_t>{0, 1});
  CHECK(sweep.collector.missing().front() == 2);
  CHECK_FALSE(std::filesystem::exists(sweep.part("b")));
}

TEST_CASE("runs that fail are counted, and those after them go on", "[unit]") {
  Sweep sweep;
  engines::PartReport report = make_part(sweep.part("a"), sweep.file, {1});
  report.runs.insert(report.runs.begin(), {0, 0, "no such link", false});
  sweep.collector.take(report);
  sweep.collector.fail(2, "lost");
  const runner::SweepResult result = sweep.collector.result();
  CHECK(result.failed == 2);
  CHECK(result.why_failed == "no such link");
  CHECK(result.runs.size() == 1);
  CHECK(sweep.told.failed == std::vector<int>{0, 2});
  CHECK(sweep.stored() == std::vector<std::size_t>{1});
}

TEST_CASE("resuming skips what has ended and takes the place of what has not", "[unit]") {
  Sweep sweep(true);
  const auto ended = sweep.store->begin_run(header_of(sweep.file.runs[0]), 1);
  sweep.store->finish_run(ended, RunStatus::kFinished, "", "", "", {});
  const auto partial = sweep.store->begin_run(header_of(sweep.file.runs[1]), 1);
  sweep.store->finish_run(partial, RunStatus::kPartial, "", "", "", {});
  sweep.store->tag(partial, "mine", true);
  sweep.collector.skip_ended();
  CHECK(sweep.told.skipped_ == std::vector<int>{0});
  CHECK(sweep.collector.missing().size() == 7);
  const std::string uid = sweep.collector.predecessor(1);
  CHECK(uid == sweep.store->run(partial)->header.uid);
  CHECK(sweep.collector.predecessor(2).empty());
  sweep.collector.take(make_part(sweep.part("a"), sweep.file, {1}, RunStatus::kFinished, uid));
  CHECK(sweep.store->runs().size() == 2);
  CHECK(sweep.store->run(partial)->status == RunStatus::kFinished);
  CHECK(sweep.store->run(partial)->tags == std::vector<std::string>{"mine"});
  CHECK(sweep.collector.result().skipped == 1);
  CHECK(sweep.collector.result().runs == std::vector<results::RunId>{ended, partial});
}

TEST_CASE("what an earlier command has left is stored first", "[unit]") {
  Sweep sweep(true);
  const std::string parts = sweep.folder.file("t.db.parts");
  engines::store_left_parts(parts, *sweep.store);  // there are none
  CHECK_FALSE(std::filesystem::exists(parts));
  std::filesystem::create_directory(parts);
  make_part(engines::part_file(parts, "left"), sweep.file, {4, 5});
  {
    const engines::PartsFolder held(parts);
    CHECK_THROWS_AS(engines::PartsFolder(parts), Error);
    engines::store_left_parts(parts, *sweep.store);  // its holder does that
    CHECK(sweep.stored().empty());
  }
  engines::store_left_parts(parts, *sweep.store);
  CHECK(sweep.stored() == std::vector<std::size_t>{4, 5});
  CHECK_FALSE(std::filesystem::exists(parts));
  sweep.collector.skip_ended();
  CHECK(sweep.collector.missing() == std::vector<std::size_t>{0, 1, 2, 3, 6, 7});
}

TEST_CASE("the folder of a job that goes on by itself stays as its tasks need it", "[unit]") {
  const TemporaryFolder folder;
  const std::string parts = folder.file("t.db.parts");
  {
    const engines::PartsFolder held(parts);
    write_file(held.file("work"), "0 0 {}");
    write_file(held.file("job"), "12");
  }
  CHECK(read_file(parts + "/work") == "0 0 {}");
  std::filesystem::remove(parts + "/job");
  { const engines::PartsFolder held(parts); }
  CHECK_FALSE(std::filesystem::exists(parts));
}
