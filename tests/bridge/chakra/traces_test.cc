#include "bridge/chakra/traces.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/temporary_file.h"
#include "tests/trainers/replays/recorded_text.h"

using namespace gradwire;
using namespace gradwire::bridge;
using Catch::Contains;
using gradwire::testing::members;
using gradwire::testing::RecordedText;

namespace {

/// Three ranks, two of them in a group of their own, with steps and a message.
Recording recorded() {
  RecordedText text(3);
  for (const int rank : {0, 2}) text.add_group(rank, "pair", "0,2");
  for (int rank = 0; rank < 3; ++rank) {
    const int call =
        text.call(rank, 0.1 + 1e-9 * rank, members("all-reduce", 1000, ",\"o\":\"sum\""));
    const int gather = text.call(rank, 0.25, members("all-gather", 10));
    text.wait(rank, 0.5, call);
    text.wait(rank, 0, gather);
    text.step(rank, 0.125);
    text.call(rank, 0, ",\"k\":\"all-to-all\",\"parts\":[1,2,3],\"w\":2,\"t\":\"float16\"");
  }
  for (const int rank : {0, 2}) text.call(rank, 0, members("broadcast", 7, ",\"p\":2"), "pair");
  text.wait(1, 0, text.call(1, 0, members("send", 5, ",\"p\":2,\"tag\":4")));
  text.wait(2, 0, text.call(2, 0, members("receive", 5, ",\"p\":1,\"tag\":4")));
  for (int rank = 0; rank < 3; ++rank) text.end(rank);
  return parse_recording(text.text(), "a.jsonl");
}

/// One message's bytes behind their length: field numbers and wire types as the schema has them.
std::string message(const std::string& body) {
  return std::string(1, static_cast<char>(body.size())) + body;
}
std::string varint(int field, int value) {
  return {static_cast<char>(field << 3), static_cast<char>(value)};
}
std::string bytes(int field, const std::string& text) {
  return std::string{static_cast<char>(field << 3 | 2), static_cast<char>(text.size())} + text;
}
std::string attribute(const std::string& name, int value) {
  return bytes(10, bytes(1, name) + varint(9, value));  // int64_val
}
/// `type`: 4 computes, 7 is a collective.
std::string node(int id, int type, const std::string& rest) {
  return message(varint(1, id) + varint(3, type) + rest);
}
const std::string kHead = message(bytes(1, "1.0.0"));

struct Folder {
  void add(const std::string& name, const std::string& contents) const {
    write_file(folder.file(name), contents);
  }
  std::string refusal() const {
    try {
      read_recording(folder.path());
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  TemporaryFolder folder;
};

}  // namespace

TEST_CASE("chakra: what is written is read as it was", "[unit]") {
  const Recording before = recorded();
  const TemporaryFolder folder;
  chakra::write_traces(before, folder.path(), "train");
  CHECK(std::filesystem::exists(folder.file("train.2.et")));
  CHECK(read_header(folder.path()).world == 3);
  const Recording after = read_recording(folder.path());
  CHECK(after.header.world == 3);
  CHECK(after.header.clock == before.header.clock);
  CHECK(after.groups == before.groups);
  REQUIRE(after.events.size() == 3);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    CAPTURE(rank);
    REQUIRE(after.events[rank].size() == before.events[rank].size());
    for (std::size_t i = 0; i < after.events[rank].size(); ++i) {
      CAPTURE(i);
      const Event &a = after.events[rank][i], &b = before.events[rank][i];
      CHECK(a.kind == b.kind);
      CHECK(a.rank == b.rank);
      CHECK(a.compute == b.compute);  // to the last bit
      CHECK(a.waited == b.waited);
      if (a.kind != Event::Kind::kCall) continue;
      CHECK(a.call.number == b.call.number);
      CHECK(a.call.group == b.call.group);
      CHECK(to_json(a.call) == to_json(b.call));
    }
  }
}

TEST_CASE("chakra: others' traces are one lane of compute and its calls", "[unit]") {
  // Node 1 computes 3 us; an all-reduce of 100 bytes (2) comes after it; node 3 computes 5 us
  // beside it; node 4, of 7 us, needs both.
  const std::string trace =
      kHead + node(1, 4, varint(7, 3)) +
      node(2, 7, bytes(4, "\x01") + attribute("comm_type", 0) + attribute("comm_size", 100)) +
      node(3, 4, varint(7, 5) + bytes(5, "\x01")) + node(4, 4, varint(7, 7) + bytes(5, "\x02\x03"));
  const Folder work;
  work.add("one.0.et", trace);
  work.add("one.1.et", trace);
  const Recording recording = read_recording(work.folder.path());
  CHECK(recording.header.world == 2);
  const auto& events = recording.events[1];
  REQUIRE(events.size() == 3);
  CHECK(events[0].kind == Event::Kind::kCall);
  CHECK(describe(events[0].call) == "all-reduce of 100 bytes");
  CHECK(events[0].compute.value() == Approx(3e-6));
  CHECK(events[1].kind == Event::Kind::kWait);
  CHECK(events[1].compute.value() == Approx(5e-6));
  CHECK(events[2].kind == Event::Kind::kEnd);
  CHECK(events[2].compute.value() == Approx(7e-6));
}

TEST_CASE("chakra: files that make no sense are refused by name", "[unit]") {
  const auto refusal = [](const std::string& contents) {
    const Folder work;
    work.add("a.0.et", contents);
    return work.refusal();
  };
  CHECK_THAT(refusal("\x7f"
                     "abc"),
             Contains("a.0.et") && Contains("cut off"));
  CHECK_THAT(refusal(kHead + node(1, 4, bytes(5, "\x09"))), Contains("node 9, which is not there"));
  CHECK_THAT(refusal(kHead + node(1, 4, bytes(5, "\x02")) + node(2, 4, bytes(5, "\x01"))),
             Contains("in a circle"));
  CHECK_THAT(refusal(kHead + node(1, 7, attribute("comm_size", 1))), Contains("which collective"));
  CHECK_THAT(refusal(kHead + node(1, 7, attribute("comm_type", 0))), Contains("how many bytes"));
  CHECK_THAT(refusal(kHead + node(1, 4, "") + node(1, 4, "")), Contains("two of its nodes are 1"));
  const Folder gap;
  gap.add("a.0.et", kHead);
  gap.add("a.2.et", kHead);
  CHECK_THAT(gap.refusal(), Contains("no file of rank 1"));
  const Folder name;
  name.add("a.et", kHead);
  CHECK_THAT(name.refusal(), Contains("NAME.RANK.et"));
}
