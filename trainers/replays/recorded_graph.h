#pragma once
#include <map>
#include <string>
#include <vector>

#include "scenarios/trainer.h"
#include "trainers/replays/recorded_steps.h"

namespace gradwire::trainers {

/// An operation of an earlier step, or of this one.
struct RecordedOp {
  std::int64_t step = 0;
  sim::OpIndex op = 0;
};

/// What one step of a recording is as a step graph, with edges to steps before it.
struct RecordedStep {
  sim::GraphPtr graph;
  std::vector<Bytes> bytes;
  std::vector<Seconds> seconds;  ///< recorded ones, not scaled
  struct Edge {
    RecordedOp from;
    sim::OpIndex to = 0;
  };
  std::vector<Edge> after;
  Bytes payload{0};
};

/// Makes the step graphs of a recording, one after the other.
///
/// A rank's events follow one another on its lanes, of which most recordings have one: before each
/// of them an operation of the recorded length. A call starts a collective, for its rank, when that
/// operation has ended; a wait holds the rank's next operation back until its part of the
/// collective is done. So what a rank computes between a call and its wait hides communication, as
/// it did in the script.
///
/// Collectives of one process group follow one another on each rank, as NCCL's do on their stream.
/// All-reduce, all-gather and reduce-scatter go round a ring (Backend::kGloo: a reduce-scatter is
/// an all-reduce there, twice the bytes); broadcast and reduce along a binomial
/// tree; an all-to-all, a gather and a scatter send every message on its way at once; a barrier is
/// a tree all-reduce of one byte. A send leaves when it is called, whether or not the receiver has
/// called.
class RecordedGraph {
 public:
  /// Whose way the collectives go.
  enum class Backend : std::uint8_t { kNccl, kGloo };
  explicit RecordedGraph(const RecordedSteps& steps, Backend backend = Backend::kNccl);

  /// The next step; call at most steps.size() times. Throws Error(kScenario) where ranks wait for
  /// each other in a circle, which only a recording that nobody ran can have.
  RecordedStep next();

 private:
  struct Rank {
    std::size_t event = 0;                            ///< the first that has not come
    std::map<int, std::vector<RecordedOp>> frontier;  ///< by lane: what its next one waits for
    std::vector<std::vector<RecordedOp>> ended;       ///< by event that has come, if laned_

    bool has_come(std::size_t i) const {
      return i < event || (i < ended.size() && !ended[i].empty());
    }
  };
  /// An operation of bridge::Order under way.
  struct Started {
    std::vector<RecordedOp> ready;  ///< by member that has called
    bool drawn = false;
    std::vector<std::vector<RecordedOp>> done;  ///< by member: what its wait waits for
  };
  class Drawing;  // recorded_graph.cc

  bool advance(int rank, Drawing& drawing);
  bool can_come(int rank, std::size_t event);
  void take(int rank, std::size_t event, Drawing& drawing);
  void call(int rank, const bridge::Event& event, sim::OpIndex op, Drawing& drawing);
  void draw(std::size_t operation, Drawing& drawing);

  const RecordedSteps& steps_;
  Backend backend_;
  bool laned_ = false;  ///< events lie on more than one lane
  std::vector<Rank> ranks_;
  std::map<std::size_t, Started> started_;
  std::map<std::string, std::vector<std::vector<RecordedOp>>> last_of_group_;  ///< by member
  std::int64_t step_ = 0;
};

}  // namespace gradwire::trainers
