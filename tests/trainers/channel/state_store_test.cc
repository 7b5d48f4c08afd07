#include "trainers/channel/state_store.h"

#include <catch2/catch.hpp>
#include <sstream>

namespace gradwire::trainers {
namespace {

TEST_CASE("states start as zero, keep what is written, and cost only what is touched") {
  StateStore store;
  CHECK(store.at({3, 1}, 0).empty());
  CHECK(store.bytes() == 0);
  const auto state = store.at({3, 1}, 8);
  CHECK(state[7] == std::byte{0});
  state[7] = std::byte{42};
  store.at({9999, 1}, 8);
  CHECK(store.bytes() == 16);
  CHECK(store.at({3, 1}, 8)[7] == std::byte{42});
  CHECK(store.at({3, 1, Direction::kDown}, 8)[7] == std::byte{0});
}

TEST_CASE("states survive saving and loading") {
  StateStore store, other;
  store.at({-1, 2, Direction::kDown, 5}, 3)[1] = std::byte{7};
  other.at({0, 0}, 4);
  std::stringstream stream;
  store.save(stream);
  other.load(stream);
  CHECK(other.bytes() == 3);
  CHECK(other.at({-1, 2, Direction::kDown, 5}, 3)[1] == std::byte{7});
  std::stringstream torn(stream.str().substr(0, stream.str().size() - 1));
  CHECK_THROWS(other.load(torn));
}

}  // namespace
}  // namespace gradwire::trainers
