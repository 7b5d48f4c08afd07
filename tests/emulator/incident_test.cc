#include "emulator/incident.h"

#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/child_process.h"
#include "base/error.h"
#include "sim/session/network.h"
#include "tests/quantities.h"

namespace gradwire::emulator {
namespace {

TEST_CASE("incidents are read as they are written, or refused with how", "[unit]") {
  const Incident pause = parse_incident("pause:1@1.5s+500ms");
  CHECK(pause.kind == IncidentKind::kPause);
  CHECK(pause.host == 1);
  CHECK(pause.at == Seconds(1.5));
  CHECK(pause.lasts == Seconds(0.5));
  CHECK(words_of(pause) == "host 1 is paused at 1.50 s, for 500 ms");
  CHECK(words_of(parse_incident("kill:0@2s")) == "host 0 is killed at 2.00 s");
  for (const char* wrong :
       {"", "kill", "kill:1", "kill:1@", "kill:1@2s+1s", "pause:1@2s", "stop:1@2s+1s",
        "cut:x@2s+1s", "cut:-1@2s+1s", "cut:1@2s+0s", "cut:1@2+1s", "@2s:1", "kill:1@-1s"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(parse_incident(wrong), Error);
  }
}

TEST_CASE("a cut is an outage of all links of its host, and of no other", "[unit]") {
  sim::LinkSpec link;
  link.outages = {{Seconds(5), Seconds(6)}};
  const sim::Cluster star = sim::Cluster::star(3, link);
  const sim::Cluster cut =
      with_cuts(star, {parse_incident("cut:1@1s+2s"), parse_incident("kill:0@1s")});
  for (int host = 0; host < 3; ++host) {
    const auto& outages = cut.links()[static_cast<std::size_t>(host)].spec.outages;
    const std::vector<sim::Outage> both = {{Seconds(1), Seconds(3)}, {Seconds(5), Seconds(6)}};
    CHECK(outages == (host == 1 ? both : link.outages));
  }
  CHECK_THROWS_WITH(with_cuts(star, {parse_incident("pause:3@1s+1s")}),
                    Catch::Contains("hosts 0 to 2"));
}

TEST_CASE("signals of incidents are sent in order, each when it is due", "[unit]") {
  ChildProcess child({"sleep", "100"}, {});
  IncidentPlan plan({parse_incident("kill:0@3s"), parse_incident("pause:0@1s+1s")}, {child.pid()});
  CHECK(plan.next() == Seconds(1));
  plan.fire(Seconds(0.5));
  CHECK(plan.next() == Seconds(1));
  plan.fire(Seconds(1));
  int status = 0;
  REQUIRE(::waitpid(child.pid(), &status, WUNTRACED) == child.pid());
  CHECK(WIFSTOPPED(status));
  CHECK(plan.next() == Seconds(2));
  plan.fire(Seconds(2.5));
  REQUIRE(::waitpid(child.pid(), &status, WCONTINUED) == child.pid());
  CHECK(WIFCONTINUED(status));
  plan.fire(Seconds(4));
  CHECK(plan.next() == sim::kForever);
  CHECK(child.wait() == 128 + 9);
}

/// "T" while the process is stopped.
char state_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return text.at(text.rfind(')') + 2);
}

/// Signals take a moment to be seen.
bool becomes(int pid, bool stopped) {
  for (int turn = 0; turn < 200 && (state_of(pid) == 'T') != stopped; ++turn)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return (state_of(pid) == 'T') == stopped;
}

TEST_CASE("who is paused answers while the clock stands still, and at no other time", "[unit]") {
  ChildProcess child({"sleep", "100"}, {});
  IncidentPlan plan({parse_incident("pause:0@1s+4s"), parse_incident("pause:0@2s+1s")},
                    {child.pid()});
  plan.fire(Seconds(1));
  CHECK(becomes(child.pid(), true));
  plan.clock_stopped();
  CHECK(becomes(child.pid(), false));
  plan.clock_started();
  CHECK(becomes(child.pid(), true));
  // The shorter pause ends within the longer one.
  plan.fire(Seconds(3));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(state_of(child.pid()) == 'T');
  plan.fire(Seconds(5));
  CHECK(becomes(child.pid(), false));
  plan.clock_stopped();
  plan.clock_started();
  CHECK(becomes(child.pid(), false));
}

}  // namespace
}  // namespace gradwire::emulator
