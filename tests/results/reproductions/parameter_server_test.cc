#include "results/reproductions/parameter_server.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/file_descriptor.h"
#include "scenarios/share.h"

namespace gradwire::results {
namespace {

std::string published(const char* name) {
  return scenarios::share_folder() + "/published/" + name;
}

std::vector<ReproductionRow> shipped() {
  const std::string table = published("byteps.csv"), tensors = published("byteps-tensors.csv");
  return reproduce_byteps(read_file(table), table, read_file(tensors), tensors);
}

const ReproductionRow& named(const std::vector<ReproductionRow>& rows, const std::string& name) {
  const auto at = std::ranges::find(rows, "byteps." + name, &ReproductionRow::name);
  REQUIRE(at != rows.end());
  return *at;
}

TEST_CASE("small tensors go dense, large ones in parts that are encoded alone", "[unit]") {
  // 100 values are 400 bytes, below the least; 1,024,000 values fill one part, 1,024,001 two.
  const std::vector<TrainedTensors> tensors = {{2, 100}, {1, 1024000}, {1, 1024001}};
  CHECK(message_bytes(tensors, MessageEncoding::kDense, 0).count() == 800 + 4 * 2048001);
  CHECK(message_bytes(tensors, MessageEncoding::kSignBytes, 0).count() == 800 + 2048001 + 3 * 4);
  CHECK(message_bytes(tensors, MessageEncoding::kSignBits, 0).count() == 800 + 256000 + 12);
  CHECK(message_bytes(tensors, MessageEncoding::kPairs, 8).count() == 800 + 3 * 8 * 8);
}

TEST_CASE("two rows give the fixed and the sent part, the third follows", "[unit]") {
  // 40 kB and 400 kB dense: one bit-byte is (40 + 100.004) / 440 = 0.318 of that, top-1 40.008 /
  // 440 = 0.0909. 10 s fixed and 100 s of sending: 110, 41.8 and 19.09 s.
  const std::string tensors = "layer,tensors,values\na,1,10000\nb,1,100000\n";
  const std::string head = "method,encoding,kept,gbps,time_s\n";
  const auto rows = reproduce_byteps(
      head + "none,dense,,1,110\nonebit,sign_bytes,,1,41.8\ntop,pairs,1,1,19.0927\n", "t.csv",
      tensors, "s.csv");
  CHECK(named(rows, "onebit_1gbps.error").value == Approx(0).margin(0.001));
  CHECK(named(rows, "methods_1gbps.out_of_order").value == 0);
  // A method that sends more than another and took less is out of order.
  const auto crossed = reproduce_byteps(
      head + "none,dense,,1,110\nonebit,sign_bytes,,1,25\nrandom,pairs,8,1,30\ntop,pairs,1,1,19\n",
      "t.csv", tensors, "s.csv");
  CHECK(named(crossed, "methods_1gbps.out_of_order").holds() == false);
  CHECK_FALSE(all_hold(crossed));
}

TEST_CASE("BytePS at 100 Mbit/s: one-bit and random-k follow from none and top-k", "[unit]") {
  const auto rows = shipped();
  // 11,226,148 values: 44.905 MB dense, 11.303 MB as bytes, 0.103 MB for one value a part of 26.
  // (518.32 - 83.93) / (1 - 0.00229) = 435.4 s sent, 82.9 s fixed; 82.9 + 0.2517 x 435.4 = 192.5 s.
  CHECK(named(rows, "onebit_0.1gbps.error").value == Approx(1 - 192.5 / 195.24).margin(0.001));
  CHECK(named(rows, "random-k_0.1gbps.error").value == Approx(1 - 83.95 / 89.67).margin(0.001));
  CHECK(named(rows, "methods_0.1gbps.out_of_order").value == 0);
  const ReproductionRow& control = named(rows, "onebit_0.1gbps.as_one_bit");
  CHECK(control.negative_control);
  CHECK(control.value > 0.4);
  CHECK(all_hold(rows));
}

TEST_CASE("tables of servers' times that give no constants are refused", "[unit]") {
  const std::string tensors = "layer,tensors,values\nb,1,100000\n";
  const std::string head = "method,encoding,kept,gbps,time_s\n";
  const auto refused = [&](const std::string& rows, const char* reason) {
    CHECK_THROWS_WITH(reproduce_byteps(head + rows, "t.csv", tensors, "s.csv"),
                      Catch::Contains(reason));
  };
  refused("none,dense,,1,110\ntop,pairs,1,1,19\n", "in between");
  refused("none,dense,,1,19\nonebit,sign_bytes,,1,30\ntop,pairs,1,1,110\n", "in between");
  refused("none,raw,,1,19\n", "none of dense, sign_bytes, pairs");
  CHECK_THROWS_WITH(reproduce_byteps(head + "none,dense,,1,19\n", "t.csv",
                                     "layer,tensors,values\na,0,1\n", "s.csv"),
                    Catch::Contains("s.csv:2"));
}

}  // namespace
}  // namespace gradwire::results
