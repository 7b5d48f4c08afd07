#include "bridge/kineto/trace.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/temporary_file.h"
#include "bridge/kineto/events.h"
#include "bridge/kineto/folder.h"
#include "tests/bridge/kineto/trace_text.h"

using namespace gradwire;
using namespace gradwire::bridge;
using Catch::Contains;
using gradwire::testing::TraceText;

namespace {

std::vector<Event> events_in(const TraceText& trace) {
  return kineto::events_of(kineto::parse_trace(trace.text(), "a.json"), "a.json");
}

double microseconds(const Event& event) {
  return 1e6 * event.compute.value();
}

using Kind = Event::Kind;
void check_kinds(const std::vector<Event>& events, const std::vector<Kind>& kinds) {
  REQUIRE(events.size() == kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) CHECK(events[i].kind == kinds[i]);
}

std::string refusal(const TraceText& trace) {
  try {
    events_in(trace);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// One step of 500 us with an all-reduce of 250 elements.
TraceText one_step(int rank, int world) {
  TraceText trace(rank, world);
  trace.step(1000, 1500);
  trace.operation(1000, 1100);
  trace.all_reduce(1100, 1110, 250, false);
  trace.operation(1310, 1500);
  return trace;
}

struct Folder {
  void add(const std::string& name, const TraceText& trace) const {
    write_file(folder.file(name), trace.text());
  }
  Recording read() const { return read_recording(folder.path()); }
  std::string refusal() const {
    try {
      read();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  TemporaryFolder folder;
};

}  // namespace

TEST_CASE("kineto: a call that is waited for at once leaves out the time until its data came",
          "[unit]") {
  TraceText trace;
  trace.step(1000, 1400);
  trace.operation(1000, 1100);
  trace.all_reduce(1100, 1110, 250, false);
  trace.gloo_work(1105, 1300, 250);
  trace.operation(1310, 1400);
  const auto events = events_in(trace);
  check_kinds(events, {Kind::kCall, Kind::kWait, Kind::kStep, Kind::kEnd});
  CHECK(describe(events[0].call).starts_with("all-reduce"));
  CHECK(events[0].call.bytes() == Bytes(500));  // bfloat16, as gloo's work says
  CHECK(microseconds(events[0]) == Approx(100));
  CHECK(microseconds(events[1]) == Approx(10));   // the call itself
  CHECK(microseconds(events[2]) == Approx(100));  // from 1300, when the data had come
  CHECK(events[1].waited == std::vector<std::int64_t>{1});
}

TEST_CASE("kineto: a bucket is waited for where it is copied back", "[unit]") {
  TraceText trace;
  trace.step(1000, 1600);
  trace.operation(1000, 1100);
  trace.all_reduce(1100, 1110, 70, true);  // waited for at 1300: nothing, it came at 1200
  trace.gloo_work(1105, 1200, 70);
  trace.operation(1110, 1150);
  trace.all_reduce(1150, 1160, 30, true);  // waited for from 1320 to 1500
  trace.gloo_work(1155, 1510, 30);         // gloo's thread says so later than the waiting one
  trace.operation(1160, 1290);
  trace.operation(1300, 1305, "aten::as_strided");  // views are made after the wait
  trace.copy_back(1305, 1310, 50);
  trace.copy_back(1310, 1320, 20);
  trace.operation(1500, 1505, "aten::as_strided");
  trace.copy_back(1505, 1510, 30);
  const auto events = events_in(trace);
  check_kinds(events,
              {Kind::kCall, Kind::kCall, Kind::kWait, Kind::kWait, Kind::kStep, Kind::kEnd});
  CHECK(microseconds(events[0]) == Approx(100));
  CHECK(microseconds(events[1]) == Approx(50));
  CHECK(microseconds(events[2]) == Approx(140));  // to 1290; idle until 1300, waiting for nothing
  CHECK(microseconds(events[3]) == Approx(30));   // to 1320
  CHECK(microseconds(events[4]) == Approx(100));  // from 1500
}

TEST_CASE("kineto: on a GPU a call is made when the kernels launched before it have ended",
          "[unit]") {
  const auto of = [](double last_launch) {
    TraceText trace(0, 2, "nccl");
    trace.step(1000, 1620);
    trace.kernel(1000, 1010, 1200);
    trace.nccl_all_reduce(1020, 1030, 1205, 1500, 1000);
    trace.kernel(1040, 1200, 1260);
    trace.kernel(last_launch, 1510, 1600);
    return events_in(trace);
  };
  // Launched long before: what it waited for, from 1260 on, was the data that came at 1500.
  const auto waited = of(1050);
  check_kinds(waited, {Kind::kCall, Kind::kWait, Kind::kStep, Kind::kEnd});
  CHECK(waited[0].call.bytes() == Bytes(2000));
  CHECK(microseconds(waited[0]) == Approx(200));
  CHECK(microseconds(waited[1]) == Approx(60));
  CHECK(microseconds(waited[2]) == Approx(110));  // from 1510
  // Launched when the data was there: it waited for the host, and the wait comes before the end.
  const auto late = of(1502);
  check_kinds(late, {Kind::kCall, Kind::kWait, Kind::kStep, Kind::kEnd});
  CHECK(microseconds(late[0]) == Approx(200));
  CHECK(microseconds(late[1]) == Approx(400));  // to 1600, where the device ends
  CHECK(microseconds(late[2]) == Approx(20));
}

TEST_CASE("kineto: without a profiler's steps those of the optimiser are taken", "[unit]") {
  TraceText trace;
  for (const double begin : {1000.0, 2000.0, 3000.0}) {
    trace.operation(begin, begin + 400);
    trace.all_reduce(begin + 400, begin + 410, 10, true);
    trace.add("user_annotation", "Optimizer.step#SGD.step", begin + 900, begin + 950);
  }
  const auto events = events_in(trace);  // from 1950 to 2950, and to 3950
  check_kinds(events, {Kind::kCall, Kind::kWait, Kind::kStep, Kind::kCall, Kind::kWait, Kind::kStep,
                       Kind::kEnd});
  CHECK(microseconds(events[0]) == Approx(450));
}

TEST_CASE("kineto: what a trace does not tell is refused, with what to do", "[unit]") {
  TraceText shapeless;
  shapeless.step(1000, 1400);
  shapeless.add("cpu_op", "c10d::allreduce_", 1100, 1110);
  CHECK_THAT(refusal(shapeless), Contains("how large") && Contains("record_shapes=True"));

  TraceText unknown;
  unknown.step(1000, 1400);
  unknown.add("cpu_op", "c10d::monitored_barrier_", 1100, 1110);
  CHECK_THAT(refusal(unknown), Contains("\"c10d::monitored_barrier_\" cannot be replayed"));

  TraceText groups;
  groups.json()["distributedInfo"]["pg_config"].push_back({{"pg_name", "1"}, {"ranks", {0}}});
  groups.step(1000, 1400);
  groups.all_reduce(1100, 1110, 10, true);
  CHECK_THAT(refusal(groups), Contains("in which of its 2 process groups"));

  TraceText rankless;
  rankless.json().erase("distributedInfo");
  CHECK_THAT(refusal(rankless), Contains("which rank of how many"));
  CHECK_THAT(refusal(TraceText()), Contains("no whole step"));
  CHECK_THROWS_WITH(kineto::parse_trace("{\"traceEvents\": [", "a.json"), Contains("no JSON"));
  CHECK_THROWS_WITH(kineto::parse_trace("[]", "a.json"), Contains("traceEvents"));
}

TEST_CASE("kineto: a folder of traces is a recording", "[unit]") {
  const Folder work;
  work.add("a.json", one_step(1, 2));
  work.add("b.json", one_step(0, 2));
  CHECK(read_header(work.folder.path()).world == 2);
  const Recording recording = work.read();
  CHECK(recording.whole);
  CHECK(recording.groups.at("0") == std::vector<int>{0, 1});
  REQUIRE(recording.events.size() == 2);
  for (int rank = 0; rank < 2; ++rank) {
    REQUIRE(recording.events[static_cast<std::size_t>(rank)].size() == 4);
    CHECK(recording.events[static_cast<std::size_t>(rank)][0].rank == rank);
  }
}

TEST_CASE("kineto: ranks without a trace are like the one below, where that can be", "[unit]") {
  const Folder work;
  work.add("a.json", one_step(1, 4));
  const Recording recording = work.read();
  REQUIRE(recording.events.size() == 4);
  for (int rank = 0; rank < 4; ++rank) {
    REQUIRE(recording.events[static_cast<std::size_t>(rank)].size() == 4);
    CHECK(recording.events[static_cast<std::size_t>(rank)][3].rank == rank);
  }
  CHECK_THAT(recording.header.clock, Contains("3 ranks taken to be like others"));

  TraceText some = one_step(0, 4);
  some.json()["distributedInfo"]["pg_config"][0]["ranks"] = {0, 1};
  const Folder part;
  part.add("a.json", some);
  CHECK_THAT(part.refusal(), Contains("cannot be taken to be like others"));
}

TEST_CASE("kineto: folders that are no ranks' traces are refused", "[unit]") {
  const Folder none;
  CHECK_THAT(none.refusal(), Contains("no trace"));
  write_file(none.folder.file("rank0.json.gz"), "\x1f\x8bpacked");
  CHECK_THAT(none.refusal(), Contains("rank0.json.gz"));
  const Folder twice;
  twice.add("a.json", one_step(0, 2));
  twice.add("b.json", one_step(0, 2));
  CHECK_THAT(twice.refusal(), Contains("two of its traces are of rank 0"));
  const Folder worlds;
  worlds.add("a.json", one_step(0, 2));
  worlds.add("b.json", one_step(1, 3));
  CHECK_THAT(worlds.refusal(), Contains("of 2 and of 3 ranks"));
}

namespace {

/// As gzip packs it, in one block that is not compressed (RFC 1951, RFC 1952).
std::string gzipped(const std::string& text) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  std::string packed("\x1f\x8b\x08\0\0\0\0\0\0\x03\x01", 11);
  const auto put = [&](std::uint64_t number, int bytes) {
    for (int i = 0; i < bytes; ++i) packed += static_cast<char>(number >> 8 * i);
  };
  put(text.size(), 2);
  put(~text.size(), 2);
  packed += text;
  put(crc ^ 0xFFFFFFFFu, 4);
  put(text.size(), 4);
  return packed;
}

}  // namespace

TEST_CASE("kineto: packed traces are read as they are", "[unit]") {
  const Folder work;
  work.add("rank1.json", one_step(1, 2));
  write_file(work.folder.file("rank0.123.pt.trace.json.gz"), gzipped(one_step(0, 2).text()));
  write_file(work.folder.file("notes.txt"), "of a run");
  try {
    CHECK(read_header(work.folder.path()).world == 2);
  } catch (const Error& error) {
    REQUIRE(error.kind() == ErrorKind::kCapability);  // a build without zlib
    return;
  }
  const Recording recording = work.read();
  REQUIRE(recording.events[0].size() == 4);
  REQUIRE(recording.notes.size() == 1);
  CHECK_THAT(recording.notes[0], Contains("notes.txt"));
}

TEST_CASE("kineto: where no group is named, as before PyTorch 2.3, it is the world", "[unit]") {
  const Folder work;
  for (int rank = 0; rank < 3; ++rank) {
    TraceText trace = one_step(rank, 3);
    trace.json()["distributedInfo"].erase("pg_config");
    work.add(std::to_string(rank) + ".json", trace);
  }
  const Recording recording = work.read();
  CHECK(recording.groups.at("") == std::vector<int>{0, 1, 2});
  CHECK(recording.events[2][0].call.group.empty());
  REQUIRE(recording.notes.size() == 1);
  CHECK_THAT(recording.notes[0], Contains("all 3 ranks"));
  // Negative control: one that a record names is asked for its members.
  TraceText named = one_step(0, 2);
  named.json()["distributedInfo"].erase("pg_config");
  named.add("cpu_op", "record_param_comms", 1102, 1108,
            {{"Collective name", "allreduce"}, {"Process Group Name", "3"}});
  const Folder other;
  other.add("a.json", named);
  CHECK_THAT(other.refusal(), Contains("who is in process group \"3\""));
}

TEST_CASE("kineto: calls outside whole steps are left out, and said to be", "[unit]") {
  TraceText trace = one_step(0, 1);
  trace.all_reduce(500, 510, 10, false);
  trace.all_reduce(1600, 1610, 10, false);
  const Folder work;
  work.add("a.json", trace);
  const Recording recording = work.read();
  REQUIRE(recording.notes.size() == 1);
  CHECK_THAT(recording.notes[0], Contains("2 calls lie before the first whole step"));
}
