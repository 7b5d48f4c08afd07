#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "base/child_process.h"
#include "emulator_fixture.h"

namespace gradwire::emulator {
namespace {

std::vector<int> children_of(int pid) {
  std::vector<int> children;
  std::ifstream file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
  for (int child = 0; file >> child;) children.push_back(child);
  return children;
}

std::string network_of(const std::string& pid) {
  char text[64] = {};
  const std::string path = "/proc/" + pid + "/ns/net";
  return ::readlink(path.c_str(), text, sizeof text - 1) > 0 ? text : "";
}

/// Network namespaces in which some process of the machine lives.
std::set<std::string> living_networks() {
  std::set<std::string> networks;
  DIR* folder = ::opendir("/proc");
  while (const dirent* entry = ::readdir(folder))
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
      networks.insert(network_of(entry->d_name));
  ::closedir(folder);
  return networks;
}

template <typename Condition>
bool soon(Condition condition) {
  for (int i = 0; i < 1000 && !condition(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return condition();
}

bool none_alive(const std::set<std::string>& networks) {
  const std::set<std::string> alive = living_networks();
  for (const std::string& network : networks)
    if (alive.contains(network)) return false;
  return true;
}

sim::GraphPtr endless() {
  sim::GraphBuilder builder;
  builder.add_operation(sim::OpKind::kCompute, sim::Lane::kCompute, 0, "endless");
  builder.add_transfer(0, 1, "long", {});
  return builder.finish();
}

std::string failure_of(Emulator& emulator, sim::GraphId graph) {
  try {
    sim::run_to_end(emulator, graph);
  } catch (const Error& error) {
    return error.what();
  }
  return "it did not fail";
}

sim::LinkSpec slow_delayed_link() {
  sim::LinkSpec link = link_of(1e6);
  link.delay = Seconds(1e-3);
  return link;
}

/// Three hosts, and the process that makes their links.
std::unique_ptr<Emulator> make_family() {
  EmulatorOptions options = quick_options();
  options.shaper = "link";
  return make_emulator(sim::Cluster::star(3, slow_delayed_link()), options);
}

/// Not a test of its own: the process of the next one that is killed, or whose children are.
TEST_CASE("victim", "[.victim]") {
  const auto emulator = make_family();
  const auto graph =
      submit(*emulator, endless(), {Bytes(100'000'000)}, {Seconds(1000), Seconds(0)});
  const int hub = children_of(::getpid()).at(0);
  std::string pids = std::to_string(hub);
  for (const int child : children_of(hub)) pids += " " + std::to_string(child);
  std::printf("family %s\n", pids.c_str());
  std::fflush(stdout);
  const std::string failure = failure_of(*emulator, graph);
  CHECK_FALSE(failure.empty());
  std::printf("failure: %s\n", failure.c_str());
  std::fflush(stdout);
}

std::string line_of(ChildProcess& process, const std::string& begin) {
  std::string text;
  std::byte block[512];
  for (;;) {
    const auto at = text.find(begin);
    if (at != std::string::npos && text.find('\n', at) != std::string::npos)
      return text.substr(at + begin.size(), text.find('\n', at) - at - begin.size());
    const std::size_t got = process.stdout_pipe().read_some(block, "the victim");
    if (got == 0) return "";
    text.append(reinterpret_cast<const char*>(block), got);
  }
}

bool is_alive(int pid) {
  // A zombie has no namespace any more.
  return !network_of(std::to_string(pid)).empty();
}

/// The hub, then its children: the three workers and the link process.
std::vector<int> family_of(ChildProcess& victim) {
  std::istringstream words(line_of(victim, "family "));
  std::vector<int> family;
  for (int pid = 0; words >> pid;) family.push_back(pid);
  return family;
}

/// Starts the family and kills one of them, 0 being who started it. Nothing of it is left.
void check_that_nothing_is_left(std::size_t member) {
  ChildProcess::Options options;
  options.pipe_stdout = true;
  ChildProcess victim({executable_path(), "victim"}, options);
  const std::vector<int> family = family_of(victim);
  REQUIRE(family.size() == 5);
  std::set<std::string> networks;
  for (const int pid : family) networks.insert(network_of(std::to_string(pid)));
  // The hub's, which the link process shares, and three workers'.
  CHECK(networks.size() == 4);
  CHECK_FALSE(networks.contains(network_of("self")));
  if (member == 0) {
    victim.signal(SIGKILL);
    CHECK(victim.wait() == 128 + SIGKILL);
  } else {
    ::kill(family.at(member - 1), SIGKILL);
    CHECK_THAT(line_of(victim, "failure: "), Catch::Contains("137"));  // 128 + SIGKILL
    CHECK(victim.wait() == 0);
  }
  for (const int pid : family) CHECK(soon([&] { return !is_alive(pid); }));
  CHECK(soon([&] { return none_alive(networks); }));
}

TEST_CASE("nothing is left behind, whoever of the family is killed", "[net][needs-namespaces]") {
  try {
    make_family();
  } catch (const Error& error) {
    gradwire::testing::skip(error.what());
  }
  for (std::size_t member = 0; member < 6; ++member) {
    INFO("member " << member);
    check_that_nothing_is_left(member);
  }
}

TEST_CASE("a link process that dies ends the run by its name", "[net][needs-namespaces]") {
  EmulatorOptions options = quick_options();
  options.shaper = "link";
  const auto emulator = emulator_or_skip(sim::Cluster::star(2, slow_delayed_link()), options);
  const auto graph =
      submit(*emulator, endless(), {Bytes(100'000'000)}, {Seconds(1000), Seconds(0)});
  const int hub = children_of(::getpid()).at(0);
  ::kill(children_of(hub).at(2), SIGKILL);
  CHECK_THAT(failure_of(*emulator, graph), Catch::Contains("the link process"));
}

TEST_CASE("a worker that dies ends the run with its number", "[net][needs-namespaces]") {
  const auto emulator = emulator_or_skip(sim::Cluster::star(3, link_of(1e6)), quick_options());
  const auto graph =
      submit(*emulator, endless(), {Bytes(100'000'000)}, {Seconds(1000), Seconds(0)});
  const int hub = children_of(::getpid()).at(0);
  ::kill(children_of(hub).at(2), SIGKILL);
  CHECK_THAT(failure_of(*emulator, graph), Catch::Contains("worker process 2"));
}

TEST_CASE("workers that hang are ended after the wall limit", "[net][needs-namespaces]") {
  EmulatorOptions options = quick_options();
  const auto ready = emulator_or_skip(sim::Cluster::star(2, link_of(1e6)), options);
  options.wall_limit = Seconds(0.5);
  const auto emulator = make_emulator(sim::Cluster::star(2, link_of(1e6)), options);
  sim::GraphBuilder builder;
  builder.add_transfer(0, 1, "long", {});
  const auto graph = submit(*emulator, builder.finish(), {Bytes(100'000'000)});
  const int hub = children_of(::getpid()).at(1);
  const std::vector<int> workers = children_of(hub);
  for (const int worker : workers) ::kill(worker, SIGSTOP);
  CHECK_THAT(failure_of(*emulator, graph),
             Catch::Contains("nothing was heard") && Catch::Contains("\"long\""));
  CHECK(soon([&] { return children_of(::getpid()).size() == 1; }));
  CHECK(soon([&] {
    const std::string first = network_of(std::to_string(workers[0]));
    return first.empty();
  }));
}

TEST_CASE("what cannot be emulated is refused as a missing capability", "[net]") {
  sim::Cluster pair;
  pair.add_link(pair.add_host("a"), pair.add_host("b"), {});
  pair.finish();
  EmulatorOptions absent = quick_options();
  absent.program = "/nonexistent/gradwire-emulator-hub";
  for (const auto& [cluster, options] :
       {std::pair{pair, quick_options()}, std::pair{sim::Cluster::star(2, {}), absent}}) {
    try {
      make_emulator(cluster, options);
      FAIL("it was not refused");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kCapability);
    }
  }
}

}  // namespace
}  // namespace gradwire::emulator
