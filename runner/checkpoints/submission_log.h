#pragma once
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <vector>

#include "scenarios/session.h"

/// What a schedule has asked of its session so far, in a file. An executor's state cannot be saved
/// (ns-3's least of all): it is made anew by asking the same of a fresh one at the same moments.
///
/// A stimulus is what a schedule reacts to: the start, an event, a wake-up. They are counted, and
/// each request stands in the log with the number of stimuli before it; so it can be made again as
/// the answer to the same stimulus.
namespace gradwire::runner {

/// Graphs by number, each kept once: most submissions use one that was used before.
class GraphBook {
 public:
  /// The number of the graph; `add` is called with it where it is new.
  std::uint32_t number_of(const sim::GraphPtr& graph,
                          const std::function<void(const std::string& content)>& add);
  /// A graph that a log brings.
  void add(sim::GraphPtr graph, const std::string& content);
  const sim::GraphPtr& at(std::uint32_t number) const;

  /// What the graph was used with last: most uses repeat it.
  struct Use {
    std::vector<Bytes> bytes;
    std::vector<Seconds> seconds;
  };
  Use& last_use(std::uint32_t number) { return uses_[number]; }

 private:
  std::vector<sim::GraphPtr> graphs_;  ///< of a log that was read; else empty places
  std::vector<Use> uses_;
  std::map<std::uint64_t, std::uint32_t> by_content_;  ///< hash -> number
  struct Seen {
    std::weak_ptr<const sim::GraphTemplate> graph;
    std::uint32_t number = 0;
  };
  std::map<const sim::GraphTemplate*, Seen> by_address_;
};

/// Writes down what it hands on to another session.
class RecordedSession final : public scenarios::Session {
 public:
  /// `stimuli`: of the schedule so far, counted by whoever drives it. All must outlive it.
  RecordedSession(scenarios::Session& inner, std::ostream& log, GraphBook& graphs,
                  const std::uint64_t& stimuli)
      : inner_(inner), log_(log), graphs_(graphs), stimuli_(stimuli) {}

  sim::GraphId submit(scenarios::Work work) override;
  void cancel(sim::GraphId graph) override;
  void drop(sim::GraphId graph) override;
  void wake_at(Seconds time, std::uint64_t token) override;
  void close(scenarios::StepReport report) override;
  Seconds now() const override { return inner_.now(); }
  const sim::Timeline& timeline(sim::GraphId graph) const override {
    return inner_.timeline(graph);
  }
  std::span<const sim::MissingData> missing(sim::GraphId graph) const override {
    return inner_.missing(graph);
  }

 private:
  void write_work(const scenarios::Work& work);

  scenarios::Session& inner_;
  std::ostream& log_;
  GraphBook& graphs_;
  const std::uint64_t& stimuli_;
};

/// Makes the requests of a log again. Errors as for a damaged checkpoint.
class ReplayedSchedule final : public scenarios::Schedule {
 public:
  /// `stimuli`: of the schedule when the log ended. Both must outlive it.
  ReplayedSchedule(std::istream& log, GraphBook& graphs, std::uint64_t stimuli);

  void start(scenarios::Session& session) override { react(session); }
  void on(const sim::Event&, scenarios::Session& session) override { react(session); }
  void on_wake(std::uint64_t, scenarios::Session& session) override { react(session); }
  bool survives_failures() const override { return true; }  // the run has

  bool finished() const { return seen_ >= stimuli_; }
  /// Told of each graph that it has submitted.
  std::function<void(sim::GraphId)> on_submitted;

 private:
  void react(scenarios::Session& session);
  void read_next();
  void make(scenarios::Session& session);
  scenarios::Work read_work();

  std::istream& log_;
  GraphBook& graphs_;
  std::uint64_t stimuli_;
  std::uint64_t seen_ = 0;  ///< stimuli that it has reacted to
  std::uint8_t kind_ = 0;   ///< of the next request; 0 = none is left
  std::uint64_t at_ = 0;    ///< stimuli before it
};

}  // namespace gradwire::runner
