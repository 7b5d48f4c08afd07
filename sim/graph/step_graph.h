#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "sim/graph/collective.h"

/// A training step, whatever the method, is a graph: operations on workers with dependencies.
/// The template is immutable and shared; a step supplies only bytes and seconds.
namespace gradwire::sim {

enum class OpKind : std::uint8_t { kCompute, kEncode, kDecode, kAggregate, kTransfer, kCollective };
std::string_view name_of(OpKind kind);

/// A serial first-in-first-out resource of a worker. Operations start in order of readiness, ties
/// by (graph id, index). Transfers and collectives have none: the network is their resource.
enum class Lane : std::uint8_t { kNone, kCompute, kCodec, kHost };
std::string_view name_of(Lane lane);

/// What the receiver does with a transfer's data (the interpreter does it; its *time* is a separate
/// operation after the transfer).
enum class Action : std::uint8_t { kStore, kAdd, kDecodeAdd, kRequantize };

/// Elements [first, first + count) of the buffer that a transfer reads or writes.
struct Range {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

using OpIndex = std::uint32_t;

struct TransferMeaning {
  Range source;
  Range destination;
  Action action = Action::kStore;
  std::int32_t buffer = 0;  ///< the caller's number for what is moved (a bucket, a scaler vector)
};

/// Structure of arrays; all [size()] unless said otherwise. Operations are in topological order.
///
/// Dependencies. An edge into a collective from an operation of worker w makes w's rank ready; an
/// edge out of a collective to an operation of a member worker waits for that rank only, to others
/// for all ranks. All other edges wait for the end of the source. For an edge into a collective, a
/// transfer counts as an operation of its destination; an operation of a host that takes no part
/// holds back all ranks. Between two collectives a rank waits for the same host's rank, or, if that
/// host takes no part in the earlier one, for all of it.
///
/// A transfer (or hop) of 0 bytes carries nothing: it ends when it starts.
///
/// Sizes. Operation i reads `bytes[bytes_begin[i] .. bytes_begin[i+1])` of the step: one value for
/// a transfer; for a collective, as its CollectiveSpec says; none for the rest. It reads
/// `seconds[i]` (0 for transfers; for collectives see CollectiveSpec).
class GraphTemplate {
 public:
  std::size_t size() const { return kind.size(); }
  bool is_collective(OpIndex op) const { return kind[op] == OpKind::kCollective; }
  std::span<const OpIndex> dependencies(OpIndex op) const {
    return {dependency.data() + dependency_begin[op],
            dependency_begin[op + 1] - dependency_begin[op]};
  }

  std::vector<OpKind> kind;
  std::vector<Lane> lane;
  std::vector<std::int32_t> worker;  ///< host of the operation; a transfer's source; -1 collective
  std::vector<std::int32_t> peer;    ///< a transfer's destination host; a collective's index; or -1
  std::vector<std::uint32_t> label;  ///< index into labels: "forward", "backward b0", ...
  std::vector<TransferMeaning> meaning;         ///< used by transfers
  std::vector<std::uint32_t> dependency_begin;  ///< [size() + 1]
  std::vector<OpIndex> dependency;
  std::vector<std::uint32_t> bytes_begin;  ///< [size() + 1]
  std::vector<CollectiveSpec> collectives;
  std::vector<std::string> labels;
  int hosts = 0;  ///< 1 + the largest host used
};

using GraphPtr = std::shared_ptr<const GraphTemplate>;

/// Builds a template in topological order: an operation may depend only on earlier ones.
class GraphBuilder {
 public:
  OpIndex add_operation(OpKind kind, Lane lane, int worker, std::string_view label,
                        std::span<const OpIndex> after = {});
  OpIndex add_transfer(int source, int destination, std::string_view label,
                       const TransferMeaning& meaning, std::span<const OpIndex> after = {});
  OpIndex add_collective(CollectiveSpec spec, std::string_view label,
                         std::span<const OpIndex> after = {});
  /// Gives the template away; the builder is empty again. Every add_ call and this one check their
  /// invariants and throw a SimError that names the operation.
  GraphPtr finish();

 private:
  OpIndex append(OpKind kind, Lane lane, int worker, int peer, std::string_view label,
                 std::uint32_t byte_slots, std::span<const OpIndex> after);
  std::uint32_t label_number(std::string_view label);
  std::map<std::string, std::uint32_t, std::less<>> labels_;
  std::unique_ptr<GraphTemplate> graph_ = std::make_unique<GraphTemplate>();
};

}  // namespace gradwire::sim
