#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <thread>

#include "base/file_descriptor.h"
#include "results/store/schema.h"
#include "tests/results/test_store.h"

using namespace gradwire::results;
using Catch::Contains;

namespace {

constexpr auto kWrite = Store::Mode::kReadWrite;
constexpr auto kRead = Store::Mode::kReadOnly;

Connection create(const std::string& path) {
  return {path, Connection::Access::kCreate, 0};
}

/// Runs `work` in a child without root's privileges; true = it threw a StoreError containing text.
template <class Work>
bool unprivileged_throws(const std::string& text, Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
    try {
      work();
      ::_exit(3);
    } catch (const StoreError& error) {
      ::_exit(std::string(error.what()).find(text) != std::string::npos ? 0 : 4);
    } catch (...) {
      ::_exit(5);
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  INFO("child's exit code " << WEXITSTATUS(status));
  CHECK(status == 0);
  return status == 0;
}

}  // namespace

TEST_CASE("a newer schema is refused and left alone", "[store]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("new.db");
  Store::open(path, kWrite)->begin_run(sample_header(), 1);
  create(path).execute("PRAGMA user_version=99", "test");
  CHECK_THROWS_WITH(Store::open(path, kWrite), Contains("newer Gradwire") && Contains("99"));
  CHECK_THROWS_WITH(Store::open(path, kRead), Contains("newer Gradwire"));
  create(path).execute("PRAGMA user_version=" + std::to_string(schema_version()), "test");
  CHECK(Store::open(path, kRead)->runs().size() == 1);
}

TEST_CASE("a database of version 2: its ratio was of traffic, its labels are mended", "[store]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("old.db");
  {
    const Connection old = create(path);
    migrate(old, migrations().first(2));
    old.execute(
        "INSERT INTO scenarios (id, digest, hash, name, file, json) VALUES (1, 'd', 'h', 'n', 'f', "
        "'{}');"
        "INSERT INTO runs (id, scenario_id, scenario_hash, seed, method, executor, model, data_set,"
        " workers, host, version, device, compute_provenance, status, started_at, steps_total, "
        "ratio) VALUES (1, 1, 'h', 1, 'topk 5%', 'flow', 'm', '', 8, 'h', 'v', 'd', 'measured', "
        "'finished', '', 1, 0.4);"
        "INSERT INTO steps VALUES (1, 0, 0.5, 0, 1, 100, 110, 0, 0.5, 0.1, 0.4);"
        "INSERT INTO metrics VALUES (1, 'ratio', -1, 0.4, '', 'measured');"
        "INSERT INTO metrics VALUES (1, 'summary_delay_s', -1, 1e-4, 's', 'measured');"
        "INSERT INTO metrics VALUES (1, 'summary_exchange_ring-all-gather', -1, 1, '', 'measured');"
        "INSERT INTO metrics VALUES (1, 'summary_forward_s', -1, 0.1, 's', 'measured');",
        "test");
  }
  const auto store = Store::open(path, kWrite);
  const RunSummary run = store->run(1).value();
  CHECK(run.traffic_ratio == 0.4);
  CHECK_FALSE(run.compression_ratio);  // what a message was nobody wrote down
  const StepRow step = store->steps(1).at(0);
  CHECK(step.exposed_s == 0.4);
  CHECK(std::isnan(step.exposed_codec_s));
  std::map<std::string, Provenance> labels;
  for (const MetricRow& row : store->metrics(1)) labels[row.name] = row.provenance;
  CHECK(labels.contains("traffic_ratio"));
  CHECK_FALSE(labels.contains("ratio"));
  CHECK(labels.at("summary_delay_s") == Provenance::kGiven);
  CHECK(labels.at("summary_exchange_ring-all-gather") == Provenance::kGiven);
  CHECK(labels.at("summary_forward_s") == Provenance::kMeasured);
  // People's own SQL that says "ratio" goes on meaning what it meant.
  CHECK(create(path).scalar("SELECT count(*) FROM runs WHERE ratio = 0.4", "test") == 1);
}

TEST_CASE("a database of version 3: runs may diverge from now on, nothing is lost", "[store]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("old.db");
  constexpr const char* kDiverge = "UPDATE runs SET status = 'diverged'";
  {
    const Connection old = create(path);
    migrate(old, migrations().first(3));
    old.execute(
        "INSERT INTO scenarios (id, digest, hash, name, file, json) VALUES (1, 'd', 'h', 'n', 'f', "
        "'{}');"
        "INSERT INTO runs (id, scenario_id, scenario_hash, seed, method, executor, model, data_set,"
        " workers, host, version, device, compute_provenance, status, started_at, steps_total) "
        "VALUES (1, 1, 'h', 1, 'none', 'flow', 'm', '', 8, 'h', 'v', 'd', 'measured', 'running', "
        "'', 3);"
        "INSERT INTO steps VALUES (1, 0, 0.5, 0, 1, 100, 110, 0, 0.5, 0.1, 0.4, 0.1);"
        "INSERT INTO tags VALUES (1, 'kept');",
        "test");
    CHECK_THROWS_AS(old.execute(kDiverge, "test"), StoreError);  // the old CHECK
  }
  const auto store = Store::open(path, kWrite);
  CHECK(store->integrity() == "ok");
  CHECK(store->steps(1).size() == 1);
  CHECK(store->run(1)->tags == std::vector<std::string>{"kept"});
  store->finish_run(1, RunStatus::kDiverged, "at step 1", "", "", {});
  CHECK(store->run(1)->status == RunStatus::kDiverged);
  CHECK(Store::open(path, kRead)->run(1)->error == "at step 1");
  // The CHECK is still there, and so is the trigger that follows runs.
  const Connection now = create(path);
  CHECK_THROWS_AS(now.execute("UPDATE runs SET status = 'exploded'", "test"), StoreError);
  store->remove_run(1);
  CHECK(now.scalar("SELECT count(*) FROM scenarios", "test") == 0);
}

TEST_CASE("migrations run in order, all or none", "[store]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("old.db");
  const Migration three[] = {{"CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (41)"},
                             {"ALTER TABLE a ADD COLUMN y INTEGER DEFAULT 0"},
                             {"UPDATE a SET y = x + 1"}};
  const Connection connection = create(path);
  migrate(connection, std::span(three).first(1));  // a database of version 1, as made long ago
  CHECK(connection.scalar("PRAGMA user_version", "test") == 1);

  const Migration broken[] = {three[0], three[1], {"UPDATE missing SET y = 0"}};
  CHECK_THROWS_WITH(migrate(connection, broken), Contains("schema version 3"));
  CHECK(connection.scalar("PRAGMA user_version", "test") == 1);  // step 2 was rolled back too
  CHECK_THROWS_AS(connection.scalar("SELECT y FROM a", "test"), StoreError);

  migrate(connection, three);
  CHECK(connection.scalar("PRAGMA user_version", "test") == 3);
  CHECK(connection.scalar("SELECT y FROM a", "test") == 42);  // 41 + 1: data carried along
  migrate(connection, three);                                 // nothing left to do
  CHECK_THROWS_WITH(migrate(connection, std::span(three).first(2)), Contains("newer Gradwire"));
}

TEST_CASE("a database that another is making is never another program's", "[store]") {
  const TemporaryFolder folder;
  for (int i = 0; i < 50; ++i) {
    const std::string path = folder.file(std::to_string(i) + ".db");
    std::string why;
    std::atomic<bool> looks = false;
    std::thread reader([&] {
      const Connection connection(path, Connection::Access::kCreate, 1000);
      try {
        while (checked_version(connection, schema_version()) < schema_version()) looks = true;
      } catch (const std::exception& error) {
        why = error.what();
        looks = true;
      }
    });
    while (!looks) std::this_thread::yield();
    Store::open(path, kWrite);
    reader.join();
    CHECK(why == "");
  }
}

TEST_CASE("writers that make one database at the same time wait for each other", "[store]") {
  const TemporaryFolder folder;
  std::atomic<int> failed = 0;
  for (int i = 0; i < 40; ++i) {
    const std::string path = folder.file(std::to_string(i) + ".db");
    std::atomic<int> ready = 0;
    std::vector<std::thread> writers;
    for (int writer = 0; writer < 4; ++writer)
      writers.emplace_back([&, writer] {
        ++ready;
        while (ready < 4) std::this_thread::yield();
        try {
          Store::open(path, kWrite)->begin_run(sample_header(writer), 1);
        } catch (const std::exception&) {
          ++failed;
        }
      });
    for (std::thread& writer : writers) writer.join();
    CHECK(Store::open(path, kRead)->runs().size() == 4);
  }
  CHECK(failed == 0);
}

TEST_CASE("files that are no database of ours", "[store]") {
  const TemporaryFolder folder;
  SECTION("text") {
    gradwire::write_file(folder.file("a.db"), std::string(5000, 'x'));
    CHECK_THROWS_WITH(Store::open(folder.file("a.db"), kWrite), Contains("not a SQLite database"));
    CHECK_THROWS_WITH(Store::open(folder.file("a.db"), kRead), Contains("not a SQLite database"));
    CHECK(gradwire::read_file(folder.file("a.db")) == std::string(5000, 'x'));
  }
  SECTION("another program's SQLite database") {
    create(folder.file("a.db")).execute("CREATE TABLE mail (x)", "test");
    CHECK_THROWS_WITH(Store::open(folder.file("a.db"), kWrite), Contains("not one of Gradwire"));
  }
  SECTION("missing") {
    CHECK_THROWS_WITH(Store::open(folder.file("a.db"), kRead), Contains("no such file"));
    CHECK_THROWS_WITH(Store::open(folder.file("none/a.db"), kWrite), Contains("cannot be opened"));
    CHECK(::access(folder.file("a.db").c_str(), F_OK) != 0);  // reading does not create
  }
}

TEST_CASE("an empty file is no database, and stays one", "[store]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("notes.txt");
  gradwire::write_file(path, "");
  CHECK_THROWS_WITH(Store::open(path, kRead), Contains("the file is empty"));
  CHECK(gradwire::read_file(path).empty());
  Store::open(path, kWrite);  // who writes there asks for it
  CHECK(Store::open(path, kRead)->runs().empty());
}

TEST_CASE("a damaged database is refused or reported, never read as empty", "[store]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.db");
  {
    const auto store = Store::open(path, kWrite);
    for (int seed = 0; seed < 300; ++seed)
      store->append(store->begin_run(sample_header(seed), 1), std::vector{sample_step(0)}, {});
    CHECK(store->integrity() == "ok");
  }
  std::string bytes = gradwire::read_file(path);
  REQUIRE(bytes.size() > 10 * 4096);
  for (std::size_t i = bytes.size() / 2; i < bytes.size(); ++i) bytes[i] = static_cast<char>(0xA5);
  gradwire::write_file(path, bytes);
  // The schema's pages are whole, the later half is noise.
  CHECK_THROWS_WITH(Store::open(path, kRead)->runs(), Contains("damaged"));
  const auto integrity = [&] { return Store::open(path, kRead)->integrity(); };
  CHECK(integrity() != "ok");
}

TEST_CASE("a database that another process writes to is locked for writers only", "[store]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.db");
  const auto store = Store::open(path, kWrite, {.busy_timeout_ms = 20});
  const RunId id = store->begin_run(sample_header(), 1);
  const Connection other = create(path);
  {
    Transaction writing(other, Transaction::Kind::kWrite, "test");
    CHECK_THROWS_WITH(store->append(id, std::vector{sample_step(0)}, {}),
                      Contains("another process holds its write lock"));
    CHECK_THROWS_WITH(Store::open(path, kWrite, {.busy_timeout_ms = 20}), Contains("write lock"));
    CHECK(Store::open(path, kRead)->runs().size() == 1);  // readers are not kept out
  }
  store->append(id, std::vector{sample_step(0)}, {});
  CHECK(store->steps(id).size() == 1);
}

TEST_CASE("a full disk loses nothing that was stored", "[store]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.db");
  const auto store = Store::open(path, kWrite, {.max_bytes = 200'000});
  const RunId id = store->begin_run(sample_header(), 100'000);
  std::int64_t stored = 0;
  std::string message;
  while (stored < 100'000 && message.empty()) {
    std::vector<StepRow> rows;
    for (int i = 0; i < 100; ++i) rows.push_back(sample_step(stored + i));
    try {
      store->append(id, rows, {});
      stored += 100;
    } catch (const StoreError& error) {
      message = error.what();
    }
  }
  CHECK_THAT(message, Contains("disk is full"));
  CHECK(stored > 500);
  CHECK(static_cast<std::int64_t>(store->steps(id).size()) == stored);
  CHECK(store->run(id)->steps_done == stored);
  CHECK(store->integrity() == "ok");
  // With room again the same store goes on.
  const auto larger = Store::open(path, kWrite);
  larger->append(id, std::vector{sample_step(stored)}, {});
  CHECK(larger->run(id)->steps_done == stored + 1);
}

TEST_CASE("read-only folders and files", "[store]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.db");
  { Store::open(path, kWrite)->begin_run(sample_header(), 1); }
  ::chmod(path.c_str(), 0444);
  ::chmod(folder.path().c_str(), 0555);
  CHECK(unprivileged_throws("read-only", [&] { Store::open(path, kWrite); }));
  CHECK(
      unprivileged_throws("cannot be opened", [&] { Store::open(folder.file("new.db"), kWrite); }));
  // Reading works: the child says so by throwing the text itself.
  CHECK(unprivileged_throws("1 run", [&] {
    const auto store = Store::open(path, kRead);
    throw StoreError("test", std::to_string(store->runs().size()) + " run", "");
  }));
  ::chmod(folder.path().c_str(), 0755);
}

TEST_CASE("a reader cannot write", "[store]") {
  const TemporaryFolder folder;
  { Store::open(folder.file("a.db"), kWrite)->begin_run(sample_header(), 1); }
  const auto store = Store::open(folder.file("a.db"), kRead);
  CHECK_THROWS_WITH(store->tag(1, "x", true), Contains("for reading only"));
  CHECK_THROWS_AS(store->begin_run(sample_header(), 1), StoreError);
  CHECK_THROWS_AS(store->remove_run(1), StoreError);
}
