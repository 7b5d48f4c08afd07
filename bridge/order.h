#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bridge/call.h"

/// Which calls of the ranks belong together. The k-th call of a rank in a process group is the same
/// operation as the k-th of every other member, as in NCCL and Gloo; a send belongs to the receive
/// of the same group, ends and tag, in order. Calls that belong together must be alike: where they
/// are not, PyTorch hangs, dies, or computes nonsense.
namespace gradwire::bridge {

/// One operation; until all have called, `calls` has those that have.
struct Operation {
  std::vector<int> members;                ///< ranks, in the group's order; send: sender, receiver
  std::vector<std::optional<Call>> calls;  ///< [members]
  int called = 0;
  bool alike = true;  ///< so far; what its calls disagree on cannot be run

  bool complete() const { return called == static_cast<int>(members.size()); }
  /// Members that have not called yet.
  std::vector<int> missing() const;
};

class Order {
 public:
  explicit Order(int world);

  /// A member says who is in a group; every member says so before its first call there. Throws
  /// Error(kFailure) naming both where members do not agree.
  void add_group(int rank, const std::string& name, const std::vector<int>& ranks);
  /// The next event of its rank. Throws Error(kFailure) for a call in a group that the rank has not
  /// named, and for a wait for what it has not called.
  void add(const Event& event);

  const std::vector<Operation>& operations() const { return operations_; }
  /// Of a call that was added.
  std::size_t operation_of(int rank, std::int64_t call) const;
  /// What `rank` waits for, if that has not been called by all: nobody can end it but them.
  std::optional<std::size_t> blocked_on(int rank) const;
  /// Its latest call; null before the first.
  const Call* latest_call(int rank) const;
  /// An operation whose calls are not alike.
  std::optional<std::size_t> conflict() const { return conflict_; }
  /// "rank 1 calls its collectives in another order than the others: ...", with who called what
  /// so far.
  std::string describe_conflict() const;
  bool has_calls() const { return !operations_.empty(); }

 private:
  struct Rank {
    std::vector<std::size_t> operation;  ///< by call, from 1
    std::vector<std::size_t> waits;      ///< operations of the latest event, if a wait
    std::optional<Call> latest;
    std::map<std::string, std::size_t> next;  ///< by group: index of its next call there
  };
  struct Group {
    std::vector<int> ranks;
    int told_by = 0;
    std::vector<bool> told;               ///< [world]
    std::vector<std::size_t> operations;  ///< by index in the group
  };
  std::size_t collective(int rank, const Call& call, Group& group);
  std::size_t point_to_point(int rank, const Call& call);
  void enter(std::size_t operation, int rank, const Call& call);

  int world_;
  std::vector<Rank> ranks_;
  std::map<std::string, Group> groups_;
  /// Open sends or receives by group, sender, receiver, tag; the flag: receives.
  std::map<std::tuple<std::string, int, int, int, bool>, std::deque<std::size_t>> open_;
  std::vector<Operation> operations_;
  std::optional<std::size_t> conflict_;
};

/// "rank 1", "ranks 0, 2 and 3", "ranks 0 to 7".
std::string ranks_text(const std::vector<int>& ranks);

}  // namespace gradwire::bridge
