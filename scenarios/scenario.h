#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "compressors/codec_plan.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/topologies/topologies.h"
#include "sim/graph/mixing.h"
#include "sim/session/executor.h"
#include "trainers/updates/rate_schedule.h"

namespace gradwire::sim {
struct Aggregation;  // sim/cluster/topologies/topologies.h
}

/// Scenario files: what to run, as JSON with closed objects and units in strings.
namespace gradwire::scenarios {

/// All problems of one scenario at once, one line each:
/// `file:line: /json/pointer: what is wrong; allowed: ...; did you mean ...?`
class ScenarioError : public Error {
 public:
  struct Problem {
    std::string file;
    int line = 0;  ///< 0 = unknown (a value given with --set)
    std::string pointer;
    std::string message;
    std::string allowed;
    std::string suggestion;
    int column = 0;  ///< 0 = unknown; known for syntax errors
  };
  explicit ScenarioError(std::vector<Problem> problems);
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

enum class WorkloadKind {
  kTraining,
  kProfile,
  kCollective,
  kTransfers,
  kPipeline,
  kFederated,
  kRecording
};
/// By kind: the key of /workload that says it.
inline constexpr std::array<const char*, 7> kWorkloadKeys = {
    "model", "profile", "collective", "transfers", "pipeline", "federated", "recording"};

struct Workload {
  WorkloadKind kind = WorkloadKind::kTraining;
  // Training.
  std::string model = "mlp";                        ///< a row of scenarios/data_sets.h
  std::optional<std::vector<std::int64_t>> hidden;  ///< widths; absent = the model's own
  std::string activation = "relu";                  ///< mlp: relu tanh
  bool bias = true;                                 ///< logistic, mlp
  std::string normalisation = "none";               ///< mlp, resnet20: none batch range-evonorm
  std::optional<std::int64_t> embedding;            ///< char-lstm, transformer; absent = its own
  int heads = 4;                                    ///< transformer
  std::string model_file;              ///< of torchscript; relative to the scenario file
  std::string loss = "cross-entropy";  ///< or squared-hinge; of torchscript also nll mse
  int checkpoint_activations = 0;      ///< segments; 0 = every activation is kept
  std::string data_set = "digits";     ///< a row of scenarios/data_sets.h
  std::string data_path;               ///< folder or file; relative to the scenario file
  std::map<std::string, std::string> data_options;  ///< of the data set's row
  std::optional<std::uint64_t> data_seed;           ///< absent: see DataSetInfo::drawn_by_run
  /// Which worker has which training samples (trainers/data/partition.h).
  struct Partition {
    std::string kind = "iid";  ///< iid classes dirichlet skew shards
    int classes = 1;           ///< classes: of each worker
    double alpha = 0.5;        ///< dirichlet
    double skew = 0.8;         ///< skew: share of each class that is sorted
    int shards = 2;            ///< shards: of each worker
    double size_spread = 0;    ///< deviation of the logarithms of workers' weights; not of shards
  };
  Partition partition;
  int batch_per_worker = 32;
  int micro_batches = 1;  ///< parts of a worker's batch, one after the other
  int steps = 200;
  std::string optimizer = "sgd";  ///< a name of trainers::update_catalogue()
  double learning_rate = 0.05;
  double momentum = 0.0;  ///< momentum and weight_decay: of rules that have them
  double weight_decay = 0.0;
  std::map<std::string, std::string> optimizer_options;  ///< the others, as texts
  trainers::RateSchedule rate_schedule;                  ///< before trainers::completed()
  int evaluate_every = 20;       ///< steps; the last step is always evaluated
  double target_accuracy = 0.0;  ///< 0 = none; "simulated time to the target accuracy"
  // Profile: a table of layers (name, elements, backward seconds) stands in for a model.
  std::string profile;             ///< name of a shipped profile or a path
  std::string precision = "fp32";  ///< of the passes: fp32 tf32 fp16; where counts give the times
  // One collective.
  std::string collective;  ///< parameter-server, or a name of sim::CollectiveKind
  int group = 1;           ///< two-level-all-reduce: workers of a group
  int shards = 1;          ///< parameter-server: hosts over which it is spread
  Bytes collective_bytes{0};
  int repetitions = 1;  ///< of a collective; steps of a pipeline; rounds of a federated workload
  Seconds compute{0};   ///< collective: each worker's computation before each repetition
  // Gossip.
  std::string graph;                       ///< ring torus complete random-regular explicit
  int degree = 0;                          ///< random-regular
  std::vector<std::pair<int, int>> edges;  ///< explicit
  // Explicit transfers.
  struct Transfer {
    std::string source, destination;
    Bytes bytes{0};
    Seconds start{0};
  };
  std::vector<Transfer> transfers;
  /// Stage s on worker s (sim/graph/pipeline.h).
  struct Stage {
    Seconds forward{0}, backward{0}, update{0};
    Bytes activations{0};
    std::optional<Bytes> gradients;  ///< of them; absent: as many bytes
    Seconds encode{0}, decode{0};    ///< of the activations: here, and at the next stage
    Seconds encode_gradients{0}, decode_gradients{0};  ///< at the next stage, and here
  };
  struct Pipeline {
    std::string schedule = "gpipe";  ///< gpipe 1f1b
    int micro_batches = 1;
    Stage stage;                ///< every stage's, but for
    std::vector<Stage> stages;  ///< empty, or one a worker
  };
  Pipeline pipeline;
  struct Federated {
    int sample = 0;  ///< clients of a round; 0 = all
    Bytes download{0}, upload{0};
    Seconds compute{0}, aggregate{0};  ///< of a client a round; of the server an update
    Seconds deadline{0};               ///< from a round's start; 0 = none
    double drop_out = 0;               ///< probability that a sampled client sends nothing
  };
  Federated federated;
  std::string recording;         ///< file (bridge/recording.h); relative to the scenario file
  double compute_scale = 1;      ///< of recorded compute times
  bool alike = false;            ///< recorded ranks stand for as many as there are workers
  std::string backend = "nccl";  ///< whose way recorded collectives go
  int most_recorded_steps = 0;   ///< no file says it: the first so many; 0 = all
};

/// How gradients are compressed; scenarios/methods.h makes one plan of both forms.
struct Method {
  std::string name = "none";  ///< a codec's name, or "compressed"
  bool error_feedback = false;
  std::map<std::string, std::string> options;  ///< of a codec: texts for compressors::make_codec
  compressors::CodecPlan plan;                 ///< of "compressed", error feedback included
};

struct ClusterPlan {
  int workers = 4;
  std::string device = "cpu";  ///< cpu, cuda (both measured here) or a device profile's name
  /// Compute-time factor per worker (1 = as measured); size = workers. Stragglers are data.
  std::vector<double> slowdown;
  double spread = 0;  ///< of every worker's times (sim/cluster/host_plan.h)
  struct Absence {
    int worker = 0;
    sim::HostPlan::Absence time;
  };
  std::vector<Absence> absences;
};

/// What a topology does not have is left at its default (sim/cluster/topologies/topologies.h has
/// the meaning of each).
struct NetworkPlan {
  /// star two-tier fat-tree ring torus dumb-bell gpu-nodes wan wifi-cell lte-cell explicit
  std::string topology = "star";
  sim::LinkSpec link;
  std::optional<sim::LinkSpec> server_link;  ///< parameter server's link, default as `link`
  std::optional<sim::LinkSpec> uplink;       ///< two-tier, fat-tree; default as `link`
  sim::LinkSpec bottleneck;                  ///< dumb-bell
  sim::LinkSpec intra_link;                  ///< gpu-nodes
  int racks = 2;
  int spines = 1;
  int k = 0;
  int columns = 0;
  int rows = 0;
  int left = 0;
  int gpus_per_node = 8;
  int adapters = 1;
  struct Site {
    std::string name;
    int workers = 1;
  };
  std::vector<Site> sites;  ///< wan
  /// Between the hosts and switches of an explicit topology, or between sites.
  struct ExplicitLink {
    std::string a, b;
    sim::LinkSpec spec;
  };
  std::vector<ExplicitLink> site_links;
  struct Cell {
    double width = 0;  ///< MHz
    double exponent = 3;
    std::vector<sim::RadioCellPlan::Place> places;  ///< empty: all at the default one
  };
  Cell cell;  ///< wifi-cell, lte-cell
  /// Worker w's link follows number w mod size of each list that is not empty, w offsets ahead.
  struct Traces {
    std::vector<sim::RateSchedulePtr> up;
    std::vector<sim::RateSchedulePtr> down;
    Seconds offset{0};
  };
  Traces traces;
  struct Background {
    std::string from, to;
    sim::BackgroundTraffic traffic;  ///< but for its hosts
  };
  std::vector<Background> background;
  std::vector<std::string> hosts;  ///< explicit
  std::vector<std::string> switches;
  std::vector<ExplicitLink> links;
  struct ExplicitRoute {
    std::string from, to;
    std::vector<std::string> via;
  };
  std::vector<ExplicitRoute> routes;
  sim::TransportSettings transport;
  bool fold = true;                   ///< flow: what is symmetric is simulated once
  std::optional<sim::Detail> detail;  ///< flow: per packet or fluid; empty: its choice
};

struct Exchange {
  std::string collective = "ring";  ///< ring tree halving-doubling two-level direct
                                    ///< scatter-reduce in-network parameter-server auto
  int group = 1;                    ///< two-level: workers of a group
  int shards = 1;                   ///< parameter-server: hosts over which it is spread
  Bytes bucket{25'000'000};
  bool overlap = true;
  int zero = 0;  ///< stage of ZeRO: what workers hold parts of
  /// The optimiser's state lies in the memory of each worker's host, where the update is made.
  struct Offload {
    BitsPerSecond bandwidth{0};  ///< between device and host, each way; 0: the device profile's
    BitsPerSecond memory_bandwidth{0};  ///< the same
  };
  std::optional<Offload> offload;
};

/// Who works when, in virtual time (scenario_fields_schedule.cc has the meaning of each).
struct ScheduleChoice {
  std::string kind = "lockstep";  ///< lockstep rounds asynchronous gossip pipeline
  int local_steps = 1;
  // Rounds.
  std::optional<double> local_epochs;  ///< in place of local_steps
  int sample = 0;                      ///< clients of a round; 0 = all
  double sample_decay = 0;
  int sample_least = 1;
  std::string draw = "all";  ///< all available
  double proximal = 0;
  int buffer = 0;       ///< updates that end a round; 0 = all of the round
  Seconds deadline{0};  ///< from a round's start; 0 = none
  double drop_out = 0;
  std::string late = "dropped";       ///< dropped kept
  std::string weighting = "samples";  ///< samples equal
  double server_rate = 1;
  double server_momentum = 0;
  // Asynchronous, rounds.
  std::string staleness = "none";  ///< none divide power
  double staleness_power = 0.5;
  std::optional<std::int64_t> most_stale;  ///< absent: nobody waits
  // Gossip.
  std::string graph = "ring";  ///< ring directed-ring torus exponential complete random-regular
                               ///< explicit
  int degree = 4;              ///< random-regular
  bool directed = false;       ///< explicit: along `edges` alone, and not back
  std::vector<sim::GivenEdge> edges;  ///< explicit
  int final_mixing = 0;               ///< steps at the end without learning
  std::optional<Seconds> patience;    ///< absent: a step waits for all neighbours
  // Pipeline.
  int stages = 0;               ///< of a replica; 0 = all workers
  std::vector<int> cut;         ///< parts of the model by stage; empty = nearly equally many
  std::string order = "gpipe";  ///< gpipe 1f1b
};

/// One run: everything resolved, nothing left to default. `json` is the canonical resolved scenario
/// with a single seed and no sweep; `hash` is over its dump without seed and name.
struct Scenario {
  std::string name;
  std::string description;
  std::string file;  ///< where it came from; relative paths start there
  Workload workload;
  Method method;
  ClusterPlan cluster;
  NetworkPlan network;
  Exchange exchange;
  ScheduleChoice schedule;
  std::string executor = "flow";  ///< model flow packet emulator
  std::uint64_t seed = 1;
  nlohmann::ordered_json json;
  std::string hash;
  /// Where each value that is not a default came from, by JSON pointer: "scenario", "sweep",
  /// "--set".
  std::map<std::string, std::string> origins;
};

/// The runs of a scenario file: the cross product (or zip) of its sweep with its seeds.
struct ScenarioFile {
  std::string path;
  std::string name;
  std::string description;
  nlohmann::ordered_json expected;  ///< the file's `expected` block, may be null
  std::vector<std::string> swept;   ///< JSON pointers that vary
  std::vector<Scenario> runs;
  std::vector<std::string> warnings;  ///< suspicious values
};

/// `overrides`: pairs of JSON pointer and text, as `--set /a/b=value` gives them (text is read as
/// JSON if it parses, else as a string). Throws ScenarioError with all problems.
ScenarioFile read_scenario_file(
    const std::string& path,
    const std::vector<std::pair<std::string, std::string>>& overrides = {});
/// The same from text; `path` is used in messages and for relative paths.
ScenarioFile read_scenario_text(
    std::string_view text, const std::string& path,
    const std::vector<std::pair<std::string, std::string>>& overrides = {});

/// One value of a resolved scenario, as `run --print-config` shows it.
struct ResolvedValue {
  std::string pointer;
  std::string value;   ///< unit strings carry their unit
  std::string unit;    ///< of plain numbers ("samples", "steps"); empty if dimensionless or a text
  std::string origin;  ///< default, scenario, sweep, --set
};
/// All values of `scenario.json`, in table order.
std::vector<ResolvedValue> resolved_values(const Scenario& scenario);

/// The collective that a run is about, without "-all-reduce": of the exchange or of the workload.
std::string collective_of(const Scenario& scenario);

/// Hosts beyond the workers that take part: the shards of a parameter server, or the aggregators of
/// an in-network exchange, where the exchange or the workload's collective asks for such, else 0.
int server_count(const Scenario& scenario);

/// The tree of a network whose switches add. Throws sim::SimError for a topology without one.
sim::Aggregation aggregation_of(const Scenario& scenario);

/// Between which workers a gossip passes. Throws sim::SimError where there is no such graph.
sim::GossipEdges gossip_edges(const Scenario& scenario);

/// How a model of `parts` parts (ModelInfo::stages) is cut into the stages of a pipeline: parts of
/// each stage, or why it cannot be.
struct PipelineCut {
  std::vector<int> parts;               ///< [stages]
  int replicas = 1;                     ///< of the pipeline, each so many neighbouring workers
  std::string where, problem, instead;  ///< empty where all is well
};
PipelineCut pipeline_cut(const Scenario& scenario, int parts);

/// Who sends whom weights in training by gossip, and how much of them the receiver takes. Throws
/// sim::SimError where there is no such graph.
sim::Mixing gossip_mixing(const Scenario& scenario);

/// The cluster whose wires lose and hold up nothing: what collectives are chosen on, with windows
/// of kOpenWindow segments.
sim::Cluster build_clean_cluster(const Scenario& scenario);
inline constexpr int kOpenWindow = 1 << 20;
/// Workers of a group of a two-level all-reduce, but for machines with GPUs.
inline constexpr int kUsualGroup = 8;

/// Host number (see sim::Cluster) of a name: "worker0"... and "server" (or "server0"...), in an
/// explicit topology the name in `network.hosts`; -1 if there is no such host.
int host_index(const Scenario& scenario, std::string_view name);

/// The cluster that a scenario describes (servers are added for the parameter-server exchange).
/// Throws sim::SimError where the topology cannot have that size.
sim::Cluster build_cluster(const Scenario& scenario);

/// Whether its workers are in a radio cell.
bool is_radio(const Scenario& scenario);

/// How finely executor `flow` simulates it; empty: its first exchange decides. Throws as
/// sim::choose_detail.
std::optional<sim::Detail> detail_of(const Scenario& scenario);
/// ... that sends this graph's messages first.
sim::Detail detail_of(const Scenario& scenario, const sim::GraphTemplate& first,
                      std::span<const Bytes> bytes);

/// The newest `schema_version` that this program reads.
inline constexpr int kSchemaVersion = 1;

/// JSON Schema (draft 2020-12) derived from the table of fields.
nlohmann::ordered_json scenario_schema();

}  // namespace gradwire::scenarios
