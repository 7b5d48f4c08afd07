#include "runner/checkpoints/submission_log.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "runner/checkpoints/hashed_stream.h"
#include "sim/cluster/topologies/topologies.h"
#include "sim/executors.h"
#include "sim/graph/timeline_hash.h"

using namespace gradwire;
using namespace gradwire::runner;
using scenarios::Session;
using scenarios::StepReport;
using scenarios::Work;

namespace {

sim::Cluster star() {
  sim::LinkSpec link;
  link.rate = BitsPerSecond(1e8);
  link.delay = Seconds(1e-3);
  link.loss = 0.01;
  return sim::Cluster::star(3, link);
}

/// A session on flow that keeps hashes of what was closed.
class Bench final : public Session {
 public:
  sim::GraphId submit(Work work) override {
    return executor_->submit(scenarios::submission_of(work));
  }
  void cancel(sim::GraphId graph) override { executor_->cancel(graph); }
  void drop(sim::GraphId graph) override { executor_->forget(graph); }
  void wake_at(Seconds time, std::uint64_t token) override { wakes_.push_back({time, token}); }
  Seconds now() const override { return executor_->now(); }
  const sim::Timeline& timeline(sim::GraphId graph) const override {
    return executor_->timeline(graph);
  }
  std::span<const sim::MissingData> missing(sim::GraphId) const override { return {}; }
  void close(StepReport report) override {
    for (const sim::GraphId graph : report.graphs) {
      hashes.push_back(sim::timeline_hash(executor_->timeline(graph)));
      executor_->forget(graph);
    }
    figures.insert(figures.end(), report.figures.begin(), report.figures.end());
  }

  /// One instant with something in it. False where nothing is left.
  bool advance(scenarios::Schedule& schedule, Session& session, std::uint64_t& stimuli) {
    std::vector<sim::Event> events;
    const Seconds limit = wakes_.empty() ? sim::kForever : wakes_.front().first;
    executor_->advance(limit, events);
    for (const sim::Event& event : events) schedule.on(event, session), ++stimuli;
    if (!events.empty() || wakes_.empty()) return !events.empty();
    const std::uint64_t token = wakes_.front().second;
    wakes_.erase(wakes_.begin());
    schedule.on_wake(token, session);
    ++stimuli;
    return true;
  }

  std::vector<std::uint64_t> hashes;
  std::vector<scenarios::Figure> figures;

 private:
  sim::Cluster cluster_ = star();
  std::unique_ptr<sim::Executor> executor_ = sim::make_executor("flow", cluster_, {});
  std::vector<std::pair<Seconds, std::uint64_t>> wakes_;
};

/// Sends 200 kB from 0 to 1 over and over; every other one is cut off after 12 ms.
class Sender final : public scenarios::Schedule {
 public:
  void start(Session& session) override { send(session); }
  void on(const sim::Event& event, Session& session) override {
    if (event.kind == sim::EventKind::kGraphEnded && event.op.graph == graph_)
      end(session, session.timeline(graph_).end);
  }
  void on_wake(std::uint64_t token, Session& session) override {
    if (token != graph_) return;
    session.cancel(graph_);
    end(session, session.now());
  }
  std::int64_t sent = 0;

 private:
  void send(Session& session) {
    Work work;
    work.graph = template_;
    work.bytes = {Bytes(200'000)};
    work.seconds = {Seconds(0)};
    graph_ = session.submit(std::move(work));
    if (sent % 2 == 1) session.wake_at(session.now() + Seconds(12e-3), graph_);
  }
  void end(Session& session, Seconds at) {
    StepReport report;
    report.step = sent++;
    report.graphs = {graph_};
    report.end = at;
    report.figures = {{"sent", static_cast<double>(sent), "messages"}};
    session.close(std::move(report));
    send(session);
  }
  static sim::GraphPtr one_transfer() {
    sim::GraphBuilder builder;
    builder.add_transfer(0, 1, "message", {});
    return builder.finish();
  }
  sim::GraphPtr template_ = one_transfer();
  sim::GraphId graph_ = 0;
};

struct Logged {
  std::string log;
  std::uint64_t stimuli = 0;
  Bench bench;
};

std::unique_ptr<Logged> run_sender(std::int64_t messages) {
  auto logged = std::make_unique<Logged>();
  std::ostringstream out;
  GraphBook graphs;
  Sender sender;
  RecordedSession session(logged->bench, out, graphs, logged->stimuli);
  sender.start(session);
  ++logged->stimuli;
  while (sender.sent < messages) logged->bench.advance(sender, session, logged->stimuli);
  logged->log = out.str();
  return logged;
}

}  // namespace

TEST_CASE("What a log asks again has the same times, losses and cancellations included") {
  const auto first = run_sender(20);
  REQUIRE(first->bench.hashes.size() == 20);
  std::istringstream in(first->log);
  GraphBook graphs;
  Bench again;
  std::uint64_t counted = 0;
  ReplayedSchedule replayed(in, graphs, first->stimuli);
  replayed.start(again);
  ++counted;
  while (!replayed.finished()) REQUIRE(again.advance(replayed, again, counted));
  CHECK(again.hashes == first->bench.hashes);
  CHECK(counted == first->stimuli);
  REQUIRE(again.figures.size() == 20);
  CHECK(again.figures.back().value == 20);
  // One transfer is used over and over: its graph stands in the log once. 20 sizes of 8 bytes and
  // as many seconds are not repeated either.
  CHECK(first->log.size() < 20 * 200 + 400);
}

TEST_CASE("A log that ends too early is refused") {
  const auto first = run_sender(6);
  const auto replay = [&](std::string log) {
    std::istringstream in(std::move(log));
    GraphBook graphs;
    Bench again;
    std::uint64_t counted = 0;
    ReplayedSchedule replayed(in, graphs, first->stimuli);
    replayed.start(again);
    while (!replayed.finished() && again.advance(replayed, again, counted)) {
    }
    return again.hashes;
  };
  REQUIRE(replay(first->log) == first->bench.hashes);
  CHECK_THROWS_AS(replay(first->log.substr(0, first->log.size() - 3)), Error);
}

TEST_CASE("A hash of parts is that of the whole") {
  std::string bytes(200'000, 'x');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + i / 251);
  BlockHash whole, parts;
  whole.add(bytes.data(), bytes.size());
  for (std::size_t at = 0, part = 1; at < bytes.size(); at += part, part = part * 3 % 70'001 + 1)
    parts.add(bytes.data() + at, std::min(part, bytes.size() - at));
  // The last part above is whatever is left of the 200,000 bytes.
  CHECK(parts.length() == whole.length());
  CHECK(parts.value() == whole.value());
  bytes[123'456] ^= 1;
  BlockHash other;
  other.add(bytes.data(), bytes.size());
  CHECK(other.value() != whole.value());
}
