#include "trainers/channel/client_states.h"

#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <thread>

#include "base/temporary_file.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

constexpr std::size_t kState = 1000;

std::vector<std::byte> state_of(int client, int version) {
  std::vector<std::byte> state(kState);
  for (std::size_t i = 0; i < kState; ++i)
    state[i] = static_cast<std::byte>(static_cast<std::size_t>(client * 31 + version * 7) + i);
  return state;
}

std::vector<std::byte> read(ClientStates& states, int client) {
  std::vector<std::byte> state(kState, std::byte{99});
  states.read(client, state);
  return state;
}

/// Room for `states` in memory, and the file in `folder`.
StateLimits room_for(std::int64_t states, const TemporaryFolder& folder) {
  return {Bytes(states * static_cast<std::int64_t>(kState) + 1), folder.path()};
}

void remember(ClientStates& states, int client, int version) {
  states.propose(client, state_of(client, version));
  states.accept(client);
}

}  // namespace

TEST_CASE("states of clients come back whether they lie in memory or in the file") {
  const TemporaryFolder folder;
  for (const std::int64_t room : {0, 1, 3, 100}) {
    ClientStates states(kState, room_for(room, folder));
    CHECK(read(states, 5) == std::vector<std::byte>(kState));  // never heard
    for (int client = 0; client < 10; ++client) remember(states, client, 1);
    remember(states, 4, 2);
    INFO(room);
    for (int client = 0; client < 10; ++client)
      CHECK(read(states, client) == state_of(client, client == 4 ? 2 : 1));
    CHECK(read(states, 4) != state_of(4, 1));  // negative control
    CHECK(states.heard().size() == 10);
    const ClientStates::Use use = states.use();
    CHECK(use.memory == std::min<std::int64_t>(room, 10 + 1) * 1000);  // 4 was there twice
    CHECK(use.on_disk == std::max<std::int64_t>(10 - room, 0));
    CHECK((use.file > 0) == (room < 10));
  }
}

TEST_CASE("a proposal that is discarded leaves the state as it was") {
  const TemporaryFolder folder;
  for (const std::int64_t room : {0, 1, 100}) {
    ClientStates states(kState, room_for(room, folder));
    remember(states, 3, 1);
    states.propose(3, state_of(3, 2));
    CHECK(read(states, 3) == state_of(3, 1));
    states.discard(3);
    CHECK(read(states, 3) == state_of(3, 1));
    states.propose(8, state_of(8, 1));
    states.discard(8);
    states.discard(9);  // there is none
    CHECK(states.heard() == std::vector<std::int32_t>{3});
  }
}

TEST_CASE("the file uses places again, and is gone with its owner") {
  const TemporaryFolder folder;
  {
    ClientStates states(kState, room_for(2, folder));
    for (int version = 0; version < 50; ++version)
      for (int client = 0; client < 6; ++client) remember(states, client, version);
    // Of 6 states and a proposal, 2 are in memory, so 5 lie in the file at most.
    CHECK(states.use().file <= 5 * 1000);
    CHECK(states.use().file >= 4 * 1000);
    for (int client = 0; client < 6; ++client) CHECK(read(states, client) == state_of(client, 49));
    CHECK(std::filesystem::is_empty(folder.path()));  // nor would a kill leave anything
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("states that were used last stay in memory") {
  const TemporaryFolder folder;
  ClientStates states(kState, room_for(2, folder));
  remember(states, 1, 0);
  remember(states, 2, 0);
  read(states, 1);
  remember(states, 3, 0);  // puts 2 out, not 1
  CHECK(states.use().on_disk == 1);
  // The proposal puts 1 out; once it is accepted, the first place is free again.
  remember(states, 2, 1);
  CHECK(states.use().file == 2 * 1000);
}

TEST_CASE("saved states are loaded under any limits") {
  const TemporaryFolder folder;
  ClientStates tight(kState, room_for(2, folder)), wide(kState, {});
  for (ClientStates* states : {&tight, &wide}) {
    for (int client = 0; client < 7; ++client) remember(*states, client, 1);
    states->propose(5, state_of(5, 2));
  }
  std::stringstream from_tight, from_wide;
  tight.save(from_tight);
  wide.save(from_wide);
  CHECK(from_tight.str() == from_wide.str());

  ClientStates loaded(kState, room_for(1, folder));
  remember(loaded, 99, 1);  // is replaced
  loaded.load(from_wide);
  CHECK(loaded.heard() == wide.heard());
  CHECK(read(loaded, 5) == state_of(5, 1));
  loaded.accept(5);
  CHECK(read(loaded, 5) == state_of(5, 2));

  std::istringstream torn(from_tight.str().substr(0, 2000));
  CHECK_THROWS_AS(loaded.load(torn), Error);
  std::istringstream other(from_tight.str());
  ClientStates larger(kState + 8, {});
  CHECK_THROWS_AS(larger.load(other), Error);
}

TEST_CASE("a state is replaced wherever it lies") {
  const TemporaryFolder folder;
  for (const std::int64_t room : {0, 1, 3, 100}) {
    INFO(room);
    ClientStates states(kState, room_for(room, folder));
    for (int version = 1; version < 4; ++version)
      for (int client = 0; client < 10; ++client) {
        CHECK(states.knows(client) == (version > 1));
        states.replace(client, state_of(client, version));
        CHECK(read(states, client) == state_of(client, version));
      }
    for (int client = 0; client < 10; ++client) CHECK(read(states, client) == state_of(client, 3));
    const ClientStates::Use use = states.use();
    CHECK(use.memory == std::min<std::int64_t>(room, 10) * 1000);
    CHECK(use.on_disk == std::max<std::int64_t>(10 - room, 0));
    CHECK(use.file <= 11 * 1000);  // places are used again
    // Beside a proposal, which stays.
    states.propose(2, state_of(2, 9));
    states.replace(2, state_of(2, 4));
    CHECK(read(states, 2) == state_of(2, 4));
    states.accept(2);
    CHECK(read(states, 2) == state_of(2, 9));
  }
  ClientStates nowhere(kState, {Bytes(0), "/proc/no-such-folder"});
  CHECK_THROWS_AS(nowhere.replace(3, state_of(3, 1)), TrainerError);
  CHECK_FALSE(nowhere.knows(3));
}

TEST_CASE("threads that propose and read side by side find their own") {
  const TemporaryFolder folder;
  ClientStates states(kState, room_for(3, folder));
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&states, &wrong, thread] {
      for (int round = 0; round < 50; ++round)
        for (int client = thread; client < 20; client += 4) {
          if (round > 0 && read(states, client) != state_of(client, round - 1))
            ++wrong[static_cast<std::size_t>(thread)];
          remember(states, client, round);
        }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4));
}

TEST_CASE("a folder that takes no file, and a damaged file, are named") {
  using Catch::Contains;
  ClientStates nowhere(kState, {Bytes(2000), "/proc/no-such-folder"});
  remember(nowhere, 1, 1);
  remember(nowhere, 2, 1);
  CHECK_THROWS_WITH(nowhere.propose(3, state_of(3, 1)), Contains("/proc/no-such-folder") &&
                                                            Contains("--memory") &&
                                                            Contains("No such file or directory"));
  CHECK(read(nowhere, 1) == state_of(1, 1));  // nothing is lost
  CHECK(read(nowhere, 2) == state_of(2, 1));

  const TemporaryFolder folder;
  StateFile file(folder.path(), kState);
  const std::int64_t first = file.write(state_of(1, 1)), second = file.write(state_of(2, 1));
  std::vector<std::byte> state(kState);
  REQUIRE(::pwrite(file.descriptor(), "?", 1, 1500) == 1);
  file.read(first, state);  // the other one is as it was
  CHECK(state == state_of(1, 1));
  CHECK_THROWS_WITH(file.read(second, state), Contains(folder.path()) && Contains("check sum"));
  REQUIRE(::ftruncate(file.descriptor(), 1500) == 0);
  CHECK_THROWS_WITH(file.read(second, state), Contains("ends too early"));
  file.give_back(second);
  CHECK(file.write(state_of(3, 1)) == second);
  file.read(second, state);
  CHECK(state == state_of(3, 1));
}

TEST_CASE("a file that can grow no further is named, and what was written before stays") {
  using Catch::Contains;
  const TemporaryFolder folder;
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{2500, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string message;
  ClientStates states(kState, room_for(1, folder));
  for (int client = 0; client < 3; ++client) remember(states, client, 1);
  try {
    remember(states, 3, 1);  // the file would hold 3 x 1000 bytes
  } catch (const TrainerError& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK_THAT(message, Contains("cannot write clients' states to a file in " + folder.path()) &&
                          Contains("File too large") && Contains("it holds 2.00 kB") &&
                          Contains("--memory"));
  for (int client = 0; client < 3; ++client) CHECK(read(states, client) == state_of(client, 1));
  remember(states, 3, 1);  // negative control: with room it goes on
  for (int client = 0; client < 4; ++client) CHECK(read(states, client) == state_of(client, 1));
}

}  // namespace gradwire::trainers
