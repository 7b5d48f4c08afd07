#include "engines/dispatcher.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "engines/work_list.h"

using namespace gradwire;
using engines::Dispatcher;

namespace {

std::vector<std::string> lines(std::size_t count, std::size_t alone = 1000) {
  std::vector<std::string> list;
  for (std::size_t place = 0; place < count; ++place)
    list.push_back(std::to_string(place) + (place == alone ? " 1 {}" : " 0 {}"));
  return list;
}

}  // namespace

TEST_CASE("long runs are given out one by one, short ones together, the last ones thinly",
          "[unit]") {
  Dispatcher dispatcher(lines(100), 4);
  CHECK(dispatcher.next().size() == 1);  // nobody knows yet how long they are
  dispatcher.note(1, 10);
  CHECK(dispatcher.next().size() == 1);
  Dispatcher quick(lines(1000), 4);
  quick.note(1, 0.01);
  CHECK(quick.next().size() == 50);  // 0.5 s of 10 ms
  Dispatcher quicker(lines(1000), 4);
  quicker.note(1, 0.0001);
  CHECK(quicker.next().size() == 64);
  Dispatcher few(lines(16), 4);
  few.note(1, 0.0001);
  CHECK(few.next().size() == 2);  // an eighth: four ranks end together
}

TEST_CASE("every run is given out once, in order", "[unit]") {
  Dispatcher dispatcher(lines(333), 3);
  std::vector<std::string> given;
  for (auto batch = dispatcher.next(); !batch.empty(); batch = dispatcher.next()) {
    given.insert(given.end(), batch.begin(), batch.end());
    dispatcher.note(batch.size(), 0.01 * static_cast<double>(batch.size()));
  }
  CHECK(given == lines(333));
  Dispatcher stopped(lines(333), 3);
  stopped.stop();
  CHECK(stopped.next().empty());
}

TEST_CASE("a run that a rank was lost with goes by itself", "[unit]") {
  Dispatcher dispatcher(lines(200, 3), 2);
  dispatcher.note(1, 0.01);
  CHECK(dispatcher.next().size() == 3);
  CHECK(dispatcher.next() == std::vector<std::string>{"3 1 {}"});
  CHECK(dispatcher.next().size() > 1);
}

TEST_CASE("a line says its place", "[unit]") {
  CHECK(engines::label_of("17 1 {}").place == 17);
  CHECK(engines::label_of("17 1 {}").alone);
  CHECK_FALSE(engines::label_of("17 0 {}").alone);
  CHECK_THROWS_AS(engines::label_of("{}"), Error);
  CHECK_THROWS_AS(engines::label_of(""), Error);
}
