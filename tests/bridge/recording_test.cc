#include "bridge/recording.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/temporary_file.h"
#include "bridge/alike.h"

using namespace gradwire;
using namespace gradwire::bridge;
using Catch::Contains;

namespace {

const std::string kHead =
    R"({"e":"recording","version":1,"world":2,"torch":"2.11.0","clock":"CPU time"})"
    "\n"
    R"({"e":"group","r":0,"g":"0","ranks":[0,1]})"
    "\n"
    R"({"e":"group","r":1,"g":"0","ranks":[0,1]})"
    "\n";

Recording parsed(const std::string& lines) {
  return parse_recording(kHead + lines, "a.jsonl");
}

std::string refusal(const std::string& lines) {
  try {
    parse_recording(lines, "a.jsonl");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("recording: the rate of matrix products may be there, and comes back", "[unit]") {
  CHECK_FALSE(parsed("").header.flops_per_second);  // older recordings
  const auto head = [](const std::string& rate) {
    return R"({"e":"recording","version":1,"world":1,"flops_per_s":)" + rate + "}\n";
  };
  const Header header = parse_recording(head("9.75e10"), "a.jsonl").header;
  REQUIRE(header.flops_per_second);
  CHECK(*header.flops_per_second == 9.75e10);
  CHECK(header_of(to_json(header)).flops_per_second == header.flops_per_second);
  for (const char* rate : {"0", "-1", "\"fast\"", "null", "1e300"})
    CHECK_THAT(refusal(head(rate)), Contains("flops_per_s"));
}

TEST_CASE("recording: ranks stand for others, and what all hold together stays as large",
          "[unit]") {
  const std::string calls =
      R"({"e":"call","r":0,"s":0.5,"c":1,"g":"0","k":"all-gather","n":10,"w":4})"
      "\n"
      R"({"e":"call","r":1,"s":0.25,"c":1,"g":"0","k":"all-gather","n":10,"w":4})"
      "\n"
      R"({"e":"call","r":0,"c":2,"g":"0","k":"all-reduce","n":7,"w":4})"
      "\n"
      R"({"e":"call","r":1,"c":2,"g":"0","k":"all-reduce","n":7,"w":4})"
      "\n"
      R"({"e":"call","r":0,"c":3,"g":"0","k":"all-to-all","parts":[3,5],"w":4})"
      "\n";
  const Recording five = with_ranks(parsed(calls), 5, "a.jsonl");
  CHECK(five.header.world == 5);
  CHECK(five.groups.at("0") == std::vector<int>{0, 1, 2, 3, 4});
  REQUIRE(five.events.size() == 5);
  CHECK(five.events[4][0].rank == 4);
  CHECK(five.events[4][0].compute == Seconds(0.5));   // as rank 0
  CHECK(five.events[3][0].compute == Seconds(0.25));  // as rank 1
  CHECK(five.events[3][0].call.elements == 4);        // 20 of all, in 5 blocks
  CHECK(five.events[3][1].call.elements == 7);
  CHECK(five.events[4][2].call.parts == std::vector<std::int64_t>{2, 2, 2, 2, 2});  // of 8
  const Recording same = with_ranks(parsed(calls), 2, "a.jsonl");
  CHECK(same.events[0][2].call.parts == std::vector<std::int64_t>{3, 5});

  CHECK_THROWS_WITH(with_ranks(parsed(calls), 10'000'000, "a.jsonl"), Contains("fewer ranks"));
  const std::string message = calls +
                              R"({"e":"call","r":1,"c":4,"g":"0","k":"send","n":1,"w":4,"p":0})"
                              "\n";
  CHECK_THROWS_WITH(with_ranks(parsed(message), 4, "a.jsonl"),
                    Contains("cannot be taken to be like others") && Contains("send"));
}

TEST_CASE("recording: what a rank told is read as it told it", "[unit]") {
  const Recording recording = parsed(
      R"({"e":"call","r":1,"s":0.25,"c":1,"g":"0","k":"all-reduce","n":10,"w":2,"t":"float16","o":"sum","at":"a.py:3"})"
      "\n"
      R"({"e":"call","r":0,"c":1,"g":"0","k":"all-to-all","parts":[3,4],"w":8,"t":"int64"})"
      "\n"
      R"({"e":"wait","r":1,"s":0.5,"c":[1]})"
      "\n"
      R"({"e":"step","r":1,"s":1e-3})"
      "\n"
      R"({"e":"end","r":1,"s":0})"
      "\n");
  CHECK(recording.header.world == 2);
  CHECK(recording.header.torch == "2.11.0");
  CHECK(recording.groups.at("0") == std::vector<int>{0, 1});
  CHECK_FALSE(recording.whole);  // rank 0 has not told its end
  REQUIRE(recording.events[1].size() == 4);
  const Event& call = recording.events[1][0];
  CHECK(call.compute == Seconds(0.25));
  CHECK(call.call.bytes() == Bytes(20));
  CHECK(describe(call.call) == "all-reduce (sum) of 10 float16");
  CHECK(call.call.place == "a.py:3");
  CHECK(recording.events[1][1].waited == std::vector<std::int64_t>{1});
  CHECK(recording.events[1][2].kind == Event::Kind::kStep);
  CHECK(recording.events[0][0].call.elements == 7);  // 3 + 4
}

TEST_CASE("recording: whole where every rank has ended without an exception", "[unit]") {
  const std::string end = R"({"e":"end","r":0})"
                          "\n"
                          R"({"e":"end","r":1)";
  CHECK(parsed(end + "}\n").whole);
  CHECK_FALSE(parsed(end + R"(,"failure":"ValueError: x"})" + "\n").whole);
  // The writer was killed in the middle of the last line.
  CHECK_FALSE(parsed(end).whole);
  CHECK(parsed(end).events[1].empty());
}

TEST_CASE("recording: what cannot be is refused by its line", "[unit]") {
  CHECK_THAT(refusal(""), Contains("empty"));
  CHECK_THAT(refusal("{}\n"), Contains("a.jsonl:1") && Contains("first line"));
  CHECK_THAT(refusal(R"({"e":"recording","version":2,"world":2})"
                     "\n"),
             Contains("version 2"));
  CHECK_THAT(refusal(R"({"e":"recording","version":1,"world":0})"
                     "\n"),
             Contains("world"));
  const auto line = [](const std::string& text) { return refusal(kHead + text + "\n"); };
  CHECK_THAT(line("not JSON"), Contains("a.jsonl:4"));
  CHECK_THAT(line("[1]"), Contains("a.jsonl:4"));
  CHECK_THAT(line(R"({"e":"wink","r":0})"), Contains("wink"));
  CHECK_THAT(line(R"({"e":"step","r":2})"), Contains("\"r\""));
  CHECK_THAT(line(R"({"e":"step"})"), Contains("\"r\""));
  CHECK_THAT(line(R"({"e":"step","r":0,"s":-1})"), Contains("\"s\""));
  CHECK_THAT(line(R"({"e":"call","r":0,"c":1,"g":"0","k":"telepathy"})"), Contains("telepathy"));
  CHECK_THAT(line(R"({"e":"call","r":0,"c":0,"g":"0","k":"barrier"})"), Contains("\"c\""));
  CHECK_THAT(line(R"({"e":"call","r":0,"c":1,"g":"0","k":"send","n":-4})"), Contains("\"n\""));
  CHECK_THAT(line(R"({"e":"wait","r":0,"c":1})"), Contains("list"));
  CHECK_THAT(line(R"({"e":"group","r":0,"g":"1","ranks":[1]})"), Contains("rank 0"));
  CHECK_THAT(line(R"({"e":"group","r":0,"g":"1","ranks":[0,0]})"), Contains("different"));
  CHECK_THAT(line(R"({"e":"group","r":1,"g":"0","ranks":[1,0]})"), Contains("agree"));
}

TEST_CASE("recording: the first line alone says how many ranks there are", "[unit]") {
  const TemporaryFolder folder;
  write_file(folder.file("a.jsonl"), kHead + "what follows is not read\n");
  CHECK(read_header(folder.file("a.jsonl")).world == 2);
  write_file(folder.file("b.jsonl"), "{\"e\":\"step\"}\n");
  CHECK_THROWS_WITH(read_header(folder.file("b.jsonl")), Contains("b.jsonl"));
  CHECK_THROWS_WITH(read_header(folder.file("none.jsonl")), Contains("none.jsonl"));
}
