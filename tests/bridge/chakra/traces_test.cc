#include "bridge/chakra/traces.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/temporary_file.h"
#include "tests/bridge/chakra/trace_bytes.h"
#include "tests/trainers/replays/recorded_text.h"

using namespace gradwire;
using namespace gradwire::bridge;
using Catch::Contains;
using namespace gradwire::testing;

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

const std::string kHead = chakra_head();

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
  const std::string trace = kHead + computes(1, lasts(3)) + reduces(2, 100, after({1})) +
                            computes(3, lasts(5) + after({1})) +
                            computes(4, lasts(7) + after({2, 3}));
  const Folder work;
  work.add("one.0.et", trace);
  work.add("one.1.et", trace);
  const Recording recording = read_recording(work.folder.path());
  CHECK(recording.header.world == 2);
  CHECK(recording.groups.at("") == std::vector<int>{0, 1});
  CHECK(recording.notes.empty());
  const auto& events = recording.events[1];
  REQUIRE(events.size() == 4);
  CHECK(events[0].kind == Event::Kind::kWait);  // node 1 has ended
  CHECK(events[0].compute.value() == Approx(3e-6));
  CHECK(events[1].kind == Event::Kind::kCall);
  CHECK(events[1].lane == Event::kNoLane);
  CHECK(events[1].after == std::vector<std::size_t>{0});
  CHECK(describe(events[1].call) == "all-reduce of 100 bytes");
  CHECK(events[2].kind == Event::Kind::kWait);
  CHECK(events[2].compute.value() == Approx(5e-6));
  CHECK(events[2].waited == std::vector<std::int64_t>{1});
  CHECK(events[3].kind == Event::Kind::kEnd);
  CHECK(events[3].compute.value() == Approx(7e-6));
  for (const Event& event : events) CHECK((event.lane == 0 || event.kind == Event::Kind::kCall));
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
  CHECK_THAT(refusal(kHead + computes(1, after({9}))), Contains("node 9, which is not there"));
  CHECK_THAT(refusal(kHead + computes(1, after({2})) + computes(2, after({1}))),
             Contains("in a circle"));
  CHECK_THAT(refusal(kHead + node(1, 7, whole("comm_size", 1))), Contains("which collective"));
  CHECK_THAT(refusal(kHead + node(1, 7, whole("comm_type", 0))), Contains("how many bytes"));
  CHECK_THAT(refusal(kHead + node(1, 4) + node(1, 4)), Contains("two of its nodes are 1"));
  const Folder gap;
  gap.add("a.0.et", kHead);
  gap.add("a.2.et", kHead);
  CHECK_THAT(gap.refusal(), Contains("no file of rank 1"));
  const Folder name;
  name.add("a.et", kHead);
  CHECK_THAT(name.refusal(), Contains("NAME.RANK.et"));
}

TEST_CASE("chakra: operations without durations are counted, or refused beside durations",
          "[unit]") {
  const std::string call = reduces(9, 100, after({1, 2}));
  const auto operations = [](std::uint64_t count) { return whole("num_ops", count); };
  const Folder counted;
  for (const char* name : {"a.0.et", "a.1.et"})
    counted.add(name, kHead + computes(1, operations(1000)) + computes(2, operations(234)) + call);
  const Header header = read_header(counted.folder.path());
  CHECK(header.counted == 4);
  CHECK(header.flops_per_second == 1.0);
  const Recording recording = read_recording(counted.folder.path());
  double seconds = 0;
  for (const Event& event : recording.events[1]) seconds += event.compute.value();
  CHECK(seconds == 1234);

  const Folder mixed;
  mixed.add("a.0.et", kHead + computes(1, operations(1000)) + computes(2, lasts(5)) + call);
  CHECK_THAT(mixed.refusal(), Contains("1 of its 2 computing nodes have operations (num_ops) and "
                                       "no duration") &&
                                  Contains("1 have one"));
  // With a duration of its own each node says enough: what it says beside is not used, and said.
  const Folder both;
  both.add("a.0.et", kHead + computes(1, operations(1000) + lasts(3)) +
                         computes(2, whole("tensor_size", 64)) + node(3, 2) + call);
  const Recording timed = read_recording(both.folder.path());
  CHECK(timed.header.counted == 0);
  REQUIRE(timed.notes.size() == 4);
  CHECK_THAT(timed.notes[0], Contains("1 computing nodes have neither"));
  CHECK_THAT(timed.notes[1], Contains("1 memory nodes have no duration"));
  CHECK_THAT(timed.notes[2], Contains("beside a duration"));
  CHECK_THAT(timed.notes[3], Contains("tensor_size"));
}

TEST_CASE("chakra: comm_group.json says who is in a group, else those that call in it", "[unit]") {
  // Ranks 0 and 1 call in "a", 2 and 3 in "b": by name, or by a number.
  const auto fill = [](const Folder& work) {
    for (int rank = 0; rank < 4; ++rank)
      work.add("w." + std::to_string(rank) + ".et",
               kHead + reduces(1, 100, rank < 2 ? words("pg_name", "7") : whole("pg_name", 8)));
  };
  const Folder told;
  fill(told);
  told.add("comm_group.json", R"({"7": [1, 0], "8": [2, 3]})");
  told.add("system.json", R"({"topology": "ring"})");
  const Recording recording = read_recording(told.folder.path());
  CHECK(recording.groups.at("7") == std::vector<int>{1, 0});
  CHECK(recording.groups.at("8") == std::vector<int>{2, 3});
  REQUIRE(recording.notes.size() == 1);
  CHECK_THAT(recording.notes[0], Contains("system.json is not read"));

  const Folder silent;
  fill(silent);
  const Recording guessed = read_recording(silent.folder.path());
  CHECK(guessed.groups.at("7") == std::vector<int>{0, 1});
  REQUIRE(guessed.notes.size() == 2);
  CHECK_THAT(guessed.notes[0], Contains("group \"7\": taken to be the 2 ranks that call in it"));

  const Folder wrong;
  fill(wrong);
  wrong.add("comm_group.json", R"({"7": [0, 4], "8": [2, 3]})");
  CHECK_THAT(wrong.refusal(), Contains("group \"7\" has rank 4") && Contains("4 ranks"));
  wrong.add("comm_group.json", R"({"7": [0], "8": [2, 3]})");
  CHECK_THAT(wrong.refusal(), Contains("w.1.et") && Contains("rank 1 is not in"));
  const Folder dimensions;
  dimensions.add("w.0.et",
                 kHead + reduces(1, 100, truths("involved_dim", std::string("\x01\0", 2))));
  CHECK_THAT(dimensions.refusal(), Contains("involved_dim") && Contains("comm_group.json"));
  const Folder all;
  all.add("w.0.et", kHead + reduces(1, 100, truths("involved_dim", "\x01\x01")));
  CHECK(all.refusal().empty());
}

TEST_CASE("chakra: an all-to-all has a part for each rank of its group", "[unit]") {
  const Folder work;
  for (int rank = 0; rank < 4; ++rank)
    work.add("w." + std::to_string(rank) + ".et",
             kHead + node(1, 7,
                          whole("comm_type", 6) + whole("comm_size", 100) +
                              words("pg_name", std::to_string(rank / 2))));
  work.add("comm_group.json", R"({"0": [0, 1], "1": [2, 3]})");
  const Recording recording = read_recording(work.folder.path());
  CHECK(recording.events[3][0].call.parts == std::vector<std::int64_t>{50, 50});
}

TEST_CASE("chakra: nodes of the processor and of the device have lanes of their own", "[unit]") {
  // Processor 10 us (1), device 20 us (2) that it launches, processor 30 us (3), a call after (2).
  const auto on = [](bool processor, std::uint64_t time) {
    return truth("is_cpu_op", processor) + lasts(time);
  };
  const Folder work;
  work.add("a.0.et", kHead + computes(1, on(true, 10)) + computes(2, on(false, 20) + after({1})) +
                         computes(3, on(true, 30) + after({1})) + reduces(4, 8, after({2})));
  const Recording recording = read_recording(work.folder.path());
  const auto& events = recording.events[0];
  // Node 1 ends (lane 1); the device waits for it, and ends; the call; the processor's rest.
  REQUIRE(events.size() == 6);
  CHECK(events[0].lane == 1);
  CHECK(events[0].compute.value() == Approx(10e-6));
  CHECK(events[1].lane == 0);
  CHECK(events[1].after == std::vector<std::size_t>{0});
  CHECK(events[2].lane == 0);
  CHECK(events[2].compute.value() == Approx(20e-6));
  CHECK(events[3].kind == Event::Kind::kCall);
  CHECK(events[3].after == std::vector<std::size_t>{2});
  CHECK(events[4].lane == 1);
  CHECK(events[4].compute.value() == Approx(30e-6));
  CHECK(events[5].kind == Event::Kind::kEnd);
  CHECK_THROWS_WITH(chakra::write_traces(recording, work.folder.file("out"), "a"),
                    Contains("lanes of its own"));
}
