#pragma once
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/plausible.h"
#include "scenarios/scenario.h"
#include "sim/graph/step_graph.h"
#include "sim/session/executor.h"

/// The abstract trainer: really trains, really encodes, and says what a step costs as a step graph.
/// `trainers/` implements it on LibTorch in a module (libgradwire_trainers.so) that the runner
/// loads with dlopen and never links. Workloads without training implement it in runner/.
namespace gradwire::scenarios {

/// Compute and codec times of one worker, measured alone in a phase of its own (or read from a
/// device profile), replayed frozen afterwards.
struct ComputeProfile {
  std::string provenance;  ///< "measured" or "profile"
  std::string device;      ///< CPU or GPU model name, or the profile's name
  Seconds forward{0};
  struct Bucket {
    std::string name;
    std::int64_t elements = 0;
    Seconds backward{0};  ///< time from the previous bucket's end to this one's readiness
    Seconds encode{0};
    Seconds decode{0};     ///< one message (gather), or unpacking the sum (reduce)
    Seconds aggregate{0};  ///< adding one message, server side or receiver side
    Seconds scale{0};      ///< the part of encode before workers have agreed on their scales
    /// Where the update is made on the host: its gradients' way there, its weights' way back. Of
    /// the scenario, not of the device's passes; not stored with them.
    Seconds to_host{0}, from_host{0};
  };
  std::vector<Bucket> buckets;  ///< in backward order
  Seconds update{0};
  double spread = 0;  ///< relative interquartile range of the whole pass over repetitions
  int repetitions = 0;
  /// How far the times may be from the device's, where a profile assumed them.
  PlausibleRange compute_range;  ///< forward, backward, update
  PlausibleRange codec_range;    ///< encode, decode, aggregate, scale
};

/// A graph with the sizes and times of one use of it.
struct Work {
  sim::GraphPtr graph;
  std::vector<Bytes> bytes;
  std::vector<Seconds> seconds;
  std::vector<sim::CrossEdge> after;  ///< edges to graphs that were submitted before
  /// What its messages hold, where TrainerOptions::keeps_payloads asks for it.
  std::shared_ptr<const sim::Payloads> payloads = {};
};

/// What one step did, and the graph that says what it cost.
struct StepPlan : Work {
  std::int64_t step = 0;
  double loss = 0;         ///< mean over workers of the step's training loss
  Bytes payload{0};        ///< encoder's bytes, all workers, that this step sends
  Bytes dense_payload{0};  ///< what the same exchange would send with fp32 values
  /// What encoders are given, as fp32; none: a gradient of the whole model for each worker.
  std::optional<Bytes> encoded_values = {};
  std::int64_t dense_messages = 0;  ///< in so many messages; 0: in as many as the step sends
  /// No other step is under way while this one is: what comes next depends on how it ends.
  bool alone = false;
  /// False in a method's warm-up, whose messages are not those of the steps after it.
  bool steady = true;
  /// From the graph's start: what has not ended by then is cut off (only where alone).
  std::optional<Seconds> deadline;
};

/// For an executor; the work must outlive the call.
inline sim::Submission submission_of(const Work& work) {
  return {work.graph, work.bytes, work.seconds, Seconds(0), work.after, work.payloads.get()};
}

/// What `exchange.collective: auto` came to: the time of a step's exchange alone by each collective
/// that the codec could take, the fastest first.
struct CollectiveChoice {
  struct Candidate {
    std::string collective;
    Seconds time{0};
  };
  std::vector<Candidate> candidates;
};

/// How a step went on the executor.
struct StepOutcome {
  const sim::Timeline& timeline;  ///< end < 0: cut off at the deadline
  Seconds end{0};                 ///< of the step: its last operation's, or the deadline's
  std::span<const sim::MissingData> missing;  ///< what never arrived (udp-lossy)
};

/// A figure of a step or of a run that only its workload knows.
struct Figure {
  std::string name;
  double value = 0;
  std::string unit = {};
};

struct Evaluation {
  double loss = 0;
  double accuracy = 0;  ///< share of held-out samples (or characters) right
};

class Schedule;

/// Steps [first, last) of a run, from 0 on.
struct StepRange {
  std::int64_t first = 0, last = 0;
};

/// Either plans step by step (next, on_submitted, on_step_ended), where virtual time changes
/// nothing but what of a step arrived; or is driven by events (schedule).
class Trainer {
 public:
  virtual ~Trainer() = default;
  /// Phase 1: measures (holding a machine-wide lock) or reads the profile. Call once, first.
  virtual const ComputeProfile& prepare() = 0;
  /// Frozen times of an earlier measurement instead of measuring; call instead of measuring.
  virtual void use_profile(const ComputeProfile& profile) = 0;
  /// Empty unless the scenario left the collective open.
  virtual CollectiveChoice collective_choice() const { return {}; }
  /// Not null: learning obeys virtual time, and the three functions below are not called
  /// (scenarios/session.h).
  virtual Schedule* schedule() { return nullptr; }
  /// Trains and encodes the next step; false when all steps are done.
  virtual bool next(StepPlan& plan) = 0;
  virtual void on_submitted(const StepPlan& plan, sim::GraphId graph) = 0;
  /// The step has ended or was cut off. Gives the figures that it adds.
  virtual std::vector<Figure> on_step_ended(const StepPlan&, const StepOutcome&) { return {}; }
  /// Figures of the whole run so far.
  virtual std::vector<Figure> figures() const { return {}; }
  /// What is done otherwise than the scenario asks, in words; known once it is prepared.
  virtual std::vector<std::string> notes() const { return {}; }
  virtual Evaluation evaluate() = 0;
  /// The model that evaluate() scores, as a file's bytes (compressors/model_file.h); none where
  /// nothing is trained.
  virtual std::vector<std::byte> model_file() { return {}; }
  /// Scores such a file's model on the held-out samples. Throws Error naming `subject` for what is
  /// damaged, or of another model.
  virtual Evaluation evaluate_file(std::span<const std::byte> /*file*/, std::string_view subject) {
    throw Error(ErrorKind::kUsage, "evaluate model file", subject, "the scenario trains no model");
  }
  virtual std::int64_t steps_total() const = 0;
  /// Those whose mean is the run's step time: of a recording without what its script did before the
  /// first one's end, and behind the last.
  virtual StepRange usual_steps() const { return {0, steps_total()}; }
  virtual std::int64_t parameters() const = 0;
  /// Over losses, weights and bytes so far: the same under every executor for synchronous methods.
  virtual std::uint64_t learning_hash() const = 0;
  virtual void save(std::ostream& out) const = 0;
  virtual void load(std::istream& in) = 0;
};

struct TrainerOptions {
  int threads = 1;  ///< host threads that run workers side by side
  bool quiet = true;
  /// What clients of federated rounds remember: at most so much in memory, the rest in a file in
  /// `states_folder`. None = all of it in memory.
  std::optional<Bytes> memory = {};
  std::string states_folder = ".";
  /// For executors that really send messages: each Work has what its messages hold.
  bool keeps_payloads = false;
  /// For executors on a real clock, which learning would hold up: what a client of federated rounds
  /// will learn is learnt before it is sent its model; workers that wait for nobody have their
  /// passes computed beside the clock while theirs are under way there.
  bool trains_ahead = false;
};

/// The module's one factory symbol. Throws Error; the returned object is deleted by the caller.
using TrainerFactory = Trainer* (*)(const Scenario& scenario, const TrainerOptions& options);
inline constexpr const char* kTrainerFactorySymbol = "gradwire_make_trainer";

}  // namespace gradwire::scenarios
