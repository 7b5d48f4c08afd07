#include <catch2/catch.hpp>

#include "base/error.h"
#include "emulator/hosts/gloo.h"

namespace gradwire::emulator {

TEST_CASE("gloo: a turn takes as long as the slowest rank's", "[unit]") {
  const std::vector<std::string> outputs = {"0.5\n0.25\n", "0.375\n0.75\n"};
  CHECK(gloo_times(outputs, 2) == std::vector<double>{0.5, 0.75});
  for (const std::string broken : {"0.5\n", "0.5\nnan\n", "0.5\n-1\n", "no torch\n"}) {
    CAPTURE(broken);
    CHECK_THROWS_AS(gloo_times(std::vector<std::string>{"0.5\n0.25\n", broken}, 2), Error);
  }
}

TEST_CASE("gloo: a rank is told who it is, and the sizes in order", "[unit]") {
  const std::vector<std::int64_t> sizes = {1000, 20};
  const auto command = gloo_rank(2, 3, sizes, 5, "10.0.0.1");
  const std::vector<std::string> last(command.end() - 5, command.end());
  CHECK(last == std::vector<std::string>{"2", "3", "5", "10.0.0.1", "1000,20"});
}

}  // namespace gradwire::emulator
