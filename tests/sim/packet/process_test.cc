#include <signal.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/temporary_file.h"
#include "sim/packet/wire_format.h"
#include "tests/sim/packet/helpers.h"

using namespace packet_test;
using Catch::Matchers::Contains;

namespace {

/// A stand-in for gradwire-packet: a shell script.
class Script {
 public:
  explicit Script(const std::string& body) : file_("#!/bin/sh\n" + body + "\n") {
    ::chmod(file_.path().c_str(), 0700);
  }

  ExecutorOptions options(double wall_limit) const {
    ExecutorOptions result;
    result.packet_program = file_.path();
    result.wall_limit = Seconds(wall_limit);
    return result;
  }

 private:
  TemporaryFile file_;
};

struct Failure {
  std::string message;
  ErrorKind kind = ErrorKind::kFailure;
  double seconds = 0;
};

template <class Work>
Failure failure_of(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  Failure failure;
  try {
    work();
  } catch (const Error& error) {
    failure.message = error.what();
    failure.kind = error.kind();
  }
  failure.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return failure;
}

Failure failure_of_opening(const Cluster& cluster, const ExecutorOptions& options) {
  return failure_of([&] { make_packet_executor(cluster, options); });
}

/// The one child of this process.
pid_t child_pid() {
  const std::string self = std::to_string(::getpid());
  std::ifstream file("/proc/" + self + "/task/" + self + "/children");
  pid_t pid = 0;
  file >> pid;
  return pid;
}

}  // namespace

TEST_CASE("a program that is not there is a missing capability") {
  ExecutorOptions options;
  options.packet_program = "/nowhere/gradwire-packet";
  const Failure failure = failure_of_opening(Cluster::star(2, link(1e9, 50e-6)), options);
  CHECK(failure.kind == ErrorKind::kCapability);
  CHECK_THAT(failure.message, Contains("/nowhere/gradwire-packet"));
}

TEST_CASE("a program that never answers is killed within the limit") {
  const Script script("exec sleep 30");
  // The request of 4,000 workers does not even fit into the pipe.
  const int workers = GENERATE(2, 4000);
  const Cluster cluster = Cluster::star(workers, link(1e9, 50e-6));
  const Failure failure = failure_of_opening(cluster, script.options(0.3));
  CHECK_THAT(failure.message, Contains("open") && Contains("no sign of life for 300 ms"));
  CHECK(failure.seconds >= 0.3);
  CHECK(failure.seconds < 5);
  CHECK(child_pid() == 0);
}

TEST_CASE("an answer that comes together with a report of progress is not waited for again") {
  std::string frames;
  const nlohmann::json progress = {{"progress", {{"now", 1.5}, {"events", 7}}}};
  const nlohmann::json answer = {{"simulator", "none"}};
  for (const nlohmann::json& message : {progress, answer}) {
    for (const std::byte each : encode_frame(message)) frames += static_cast<char>(each);
  }
  const TemporaryFile file(frames);
  const Script script("cat " + file.path() + "; exec sleep 30");
  const Cluster cluster = Cluster::star(2, link(1e9, 50e-6));
  const Failure failure = failure_of_opening(cluster, script.options(5));
  CHECK(failure.message.empty());
  CHECK(failure.seconds < 4);
}

TEST_CASE("a program that dies is reported with its status and last words") {
  const Cluster cluster = Cluster::star(2, link(1e9, 50e-6));
  const Script ends("echo libns3: not found >&2; exit 3");
  const Failure ended = failure_of_opening(cluster, ends.options(10));
  CHECK(ended.kind == ErrorKind::kCapability);
  CHECK_THAT(ended.message, Contains("exit code 3") && Contains("libns3: not found"));
  const Script crashes("kill -SEGV $$");
  CHECK_THAT(failure_of_opening(cluster, crashes.options(10)).message, Contains("signal 11"));
  const Script babbles("echo Hello, this is not a frame");
  CHECK_THAT(failure_of_opening(cluster, babbles.options(10)).message, Contains("no frame"));
}

TEST_CASE("a program whose answers make no sense is ended, and named") {
  const auto frame_of = [](const std::string& body) {
    return std::string{static_cast<char>(body.size()), 0, 0, 0} + body;
  };
  const auto frame_of_json = [&](const nlohmann::json& value) {
    const std::vector<std::uint8_t> body = nlohmann::json::to_cbor(value);
    return frame_of(std::string(body.begin(), body.end()));
  };
  const std::string frames[] = {
      frame_of("\xff\xff\xff"),          // a break outside of all
      frame_of("\x9a\x7f\xff\xff\xff"),  // an array of 2^31 entries that ends at once
      frame_of("\x81"),                  // an array of one that ends before it
      frame_of_json(7),                  // no object
      frame_of_json({{"error", 7}}),     // an error without words
      frame_of_json({{"progress", {{"now", "late"}}}}),  // no time
      frame_of_json({{"now", "late"}}),                  // no time either, in an answer
  };
  const Cluster cluster = Cluster::star(2, link(1e9, 50e-6));
  for (const std::string& frame : frames) {
    const TemporaryFile file(frame);
    const Script script("cat " + file.path() + "; exec sleep 30");
    const Failure failure = failure_of_opening(cluster, script.options(20));
    CHECK_THAT(failure.message, Contains("open") && Contains("cannot be understood"));
    CHECK(failure.seconds < 10);
    CHECK(child_pid() == 0);  // and not left behind
  }
  // Negative control: an answer with more in it than is asked for.
  const TemporaryFile file(frame_of_json({{"now", 1.5}, {"weather", "fine"}}));
  const Script script("cat " + file.path() + "; exec sleep 30");
  CHECK(failure_of_opening(cluster, script.options(20)).message.empty());
}

TEST_CASE("a program that crashes in the middle is reported, now and later", "[needs-packet]") {
  require_packet_program();
  const auto executor = make_packet_executor(Cluster::star(2, link(1e9, 50e-6)), {});
  submit(*executor, transfer_graph({{0, 1}}), {Bytes(1000)});
  ::kill(child_pid(), SIGSEGV);
  for (int i = 0; i < 2; ++i) {
    const Failure failure = failure_of([&] { events_until(*executor); });
    CHECK(failure.kind == ErrorKind::kFailure);
    CHECK_THAT(failure.message, Contains("advance") && Contains("signal 11"));
  }
}

TEST_CASE("a program that stops in the middle is killed within the limit", "[needs-packet]") {
  require_packet_program();
  ExecutorOptions options;
  options.wall_limit = Seconds(0.5);
  const auto executor = make_packet_executor(Cluster::star(2, link(1e9, 50e-6)), options);
  submit(*executor, transfer_graph({{0, 1}}), {Bytes(1000)});
  ::kill(child_pid(), SIGSTOP);
  const Failure failure = failure_of([&] { events_until(*executor); });
  CHECK_THAT(failure.message, Contains("advance") && Contains("no sign of life"));
  CHECK(failure.seconds < 5);
  CHECK(child_pid() == 0);
}

TEST_CASE("a simulation tells how far it is, and can be stopped from outside", "[needs-packet]") {
  require_packet_program();
  ExecutorOptions options;
  std::uint64_t events = 0;
  Seconds reached{0};
  options.on_progress = [&](Seconds now, std::uint64_t so_far) {
    CHECK(now >= reached);
    CHECK(so_far > events);
    reached = now;
    events = so_far;
    return now < Seconds(0.2);
  };
  // 1.25 GB would take ten seconds of virtual time, and twenty of the wall clock.
  const auto executor = make_packet_executor(Cluster::star(2, link(1e9, 50e-6)), options);
  submit(*executor, transfer_graph({{0, 1}}), {Bytes(1'250'000'000)});
  const Failure failure = failure_of([&] { events_until(*executor); });
  CHECK_THAT(failure.message, Contains("advance") && Contains("it was stopped"));
  CHECK(reached >= Seconds(0.2));
  CHECK(reached < Seconds(5));
  CHECK(child_pid() == 0);
}

TEST_CASE("a long simulation is slow, not hung", "[needs-packet]") {
  require_packet_program();
  // 160 MB take two seconds and more, longer than the limit; the program reports progress in
  // between, twice a second where the processor is its own.
  ExecutorOptions options;
  options.wall_limit = Seconds(1.2);
  const auto executor = make_packet_executor(Cluster::star(2, link(1e9, 50e-6)), options);
  const Timeline timeline = run(*executor, transfer_graph({{0, 1}}), {Bytes(160'000'000)});
  CHECK(timeline.end.value() == Approx(2 * 0.680).epsilon(0.02));
}
