#include "emulator/cluster/rendezvous.h"

#include <catch2/catch.hpp>
#include <thread>

#include "base/error.h"
#include "emulator/cluster/clock_offset.h"
#include "tests/quantities.h"

namespace gradwire::emulator {
namespace {

/// Of this process, unlike others' at the same time.
Rendezvous own_place(int number) {
  return {"127.0.0.1", 30'000 + (static_cast<int>(::getpid()) * 7 + number) % 10'000};
}

TEST_CASE("a rendezvous is host:port", "[unit]") {
  const Rendezvous place = parse_rendezvous("node-1.example:7711");
  CHECK(place.host == "node-1.example");
  CHECK(place.port == 7711);
  for (const char* wrong : {"", "host", "host:", ":7711", "host:0", "host:65536", "host:7a"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(parse_rendezvous(wrong), Error);
  }
}

TEST_CASE("ranks that come are told apart, whatever their order", "[unit]") {
  const Rendezvous place = own_place(0);
  std::vector<FileDescriptor> ends(3);
  std::thread others([&] {
    for (const int rank : {2, 0, 1}) ends[static_cast<std::size_t>(rank)] = come_to(place, rank);
  });
  const std::vector<Arrival> arrivals = gather_ranks(place, 3);
  others.join();
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const std::byte said{static_cast<unsigned char>(rank)};
    ends[rank].write_all(std::span(&said, 1), "the hub");
    std::byte heard{99};
    CHECK(arrivals[rank].connection.read_exact(std::span(&heard, 1), "a rank"));
    CHECK(heard == said);
  }
  CHECK(addresses_among(arrivals) == std::vector<std::string>(3, "127.0.0.1"));
}

TEST_CASE("ranks that are missing, or come twice, are named", "[unit]") {
  const Rendezvous place = own_place(1);
  std::vector<FileDescriptor> ends;
  const auto failure = [&](std::vector<int> ranks) {
    std::thread others([&] {
      for (const int rank : ranks) ends.push_back(come_to(place, rank));
    });
    std::string said = "all came";
    try {
      gather_ranks(place, 4, Seconds(1));
    } catch (const Error& error) {
      said = error.what();
    }
    others.join();
    return said;
  };
  CHECK_THAT(failure({0, 2}), Catch::Contains("ranks 1, 3 did not come within 1.00 s"));
  CHECK_THAT(failure({0, 2, 3}), Catch::Contains("rank 1 did not come"));
  CHECK_THAT(failure({1, 1}), Catch::Contains("two processes say that they are rank 1"));
  CHECK_THAT(failure({4}), Catch::Contains("rank 4 has come, too"));
}

TEST_CASE("who came from the hub's machine is known by what others call it", "[unit]") {
  std::vector<Arrival> arrivals(3);
  arrivals[0].address = arrivals[0].own_address = "127.0.0.1";
  arrivals[1].address = "10.0.0.2";
  arrivals[1].own_address = "10.0.0.1";
  arrivals[2].address = arrivals[2].own_address = "10.0.0.1";
  CHECK(addresses_among(arrivals) == std::vector<std::string>{"10.0.0.1", "10.0.0.2", "10.0.0.1"});
}

TEST_CASE("a clock is known by its quickest answer, to half of its way", "[unit]") {
  // A clock 5 s ahead: asked at 1.000, seen at 1.001 (so 6.001), answered at 1.004: the middle is
  // 1.002, 1 ms from the truth, 2 ms at most. The other answer took longer and is passed over.
  const std::vector<ClockSample> samples = {{Seconds(0), Seconds(5.09), Seconds(0.1)},
                                            {Seconds(1), Seconds(6.001), Seconds(1.004)}};
  const ClockOffset offset = offset_of(samples);
  CHECK(offset.ahead.value() == Approx(4.999));
  CHECK(offset.uncertainty.value() == Approx(0.002));
}

}  // namespace
}  // namespace gradwire::emulator
