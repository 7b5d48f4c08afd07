#include <signal.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <random>
#include <thread>

#include "base/file_descriptor.h"
#include "tests/results/test_store.h"

using namespace gradwire::results;

namespace {

constexpr int kSteps = 5;

/// Writes runs of kSteps steps for ever; one byte on the pipe for each run that finish_run has
/// returned from.
[[noreturn]] void write_for_ever(const std::string& path, const gradwire::FileDescriptor& pipe) {
  const auto store = Store::open(path, Store::Mode::kReadWrite);
  for (std::uint64_t seed = 0;; ++seed) {
    const RunId id = store->begin_run(sample_header(seed), kSteps);
    for (int step = 0; step < kSteps; ++step)
      store->append(
          id, std::vector{sample_step(step)},
          std::vector<MetricRow>{{step, "accuracy", 0.5, "share", Provenance::kMeasured}});
    const std::vector<MetricRow> finals = {{-1, "final_loss", 0.1, "", Provenance::kMeasured}};
    store->finish_run(id, RunStatus::kFinished, "", "hash", "hash", finals);
    const std::byte done{1};
    pipe.write_all({&done, 1}, "pipe");
  }
}

std::size_t finished_before_kill(const std::string& path, std::chrono::microseconds wait) {
  gradwire::Pipe pipe = gradwire::make_pipe();
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      write_for_ever(path, pipe.write_end);
    } catch (...) {
      ::_exit(1);
    }
  }
  pipe.write_end.close();
  std::byte bytes[4096];
  std::size_t finished = pipe.read_end.read_some(bytes, "pipe");  // at least one, then the clock
  std::this_thread::sleep_for(wait);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  while (const std::size_t got = pipe.read_end.read_some(bytes, "pipe")) finished += got;
  return finished;
}

}  // namespace

TEST_CASE("a writer killed at any moment leaves a sound database", "[store]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.db");
  std::mt19937 random(20261121);
  std::uniform_int_distribution<int> microseconds(0, 12'000);
  std::size_t reported = 0;
  for (int round = 0; round < 20; ++round) {
    reported += finished_before_kill(path, std::chrono::microseconds(microseconds(random)));
    const auto store = Store::open(path, Store::Mode::kReadWrite);
    REQUIRE(store->integrity() == "ok");
    std::size_t finished = 0, unfinished = 0;
    for (const RunSummary& run : store->runs()) {
      const auto steps = store->steps(run.id);
      CHECK(static_cast<std::int64_t>(steps.size()) == run.steps_done);
      if (run.status == RunStatus::kFinished) {
        ++finished;
        CHECK(steps.size() == kSteps);
        CHECK(run.final_loss == 0.1);
        CHECK(run.learning_hash == "hash");
      } else {
        ++unfinished;
        CHECK(run.status == RunStatus::kRunning);
      }
    }
    // The child reports after finish_run returned: it may have been killed in between, once a
    // round.
    CHECK(finished >= reported);
    CHECK(finished <= reported + static_cast<std::size_t>(round) + 1);
    CHECK(unfinished <= static_cast<std::size_t>(round) + 1);
  }
  CHECK(reported >= 20);
}
