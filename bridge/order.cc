#include "bridge/order.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/error.h"

namespace gradwire::bridge {
namespace {

[[noreturn]] void refuse(int rank, const std::string& why) {
  throw Error(ErrorKind::kFailure, "follow the calls of", "rank " + std::to_string(rank), why);
}

/// Whether members may call both in one operation.
bool alike(const Call& a, const Call& b) {
  if (is_point_to_point(a.kind)) return a.elements * a.width == b.elements * b.width;
  if (a.kind != b.kind || a.peer != b.peer || a.reduction != b.reduction) return false;
  if (a.kind == CallKind::kAllToAll) return a.type == b.type;
  return a.elements == b.elements && a.type == b.type && a.width == b.width;
}

/// Members by what they called, those who agree most first.
std::vector<std::vector<std::size_t>> camps_of(const Operation& operation) {
  std::vector<std::vector<std::size_t>> camps;
  for (std::size_t m = 0; m < operation.members.size(); ++m) {
    if (!operation.calls[m]) continue;
    const auto camp = std::ranges::find_if(camps, [&](const std::vector<std::size_t>& members) {
      return alike(*operation.calls[members.front()], *operation.calls[m]);
    });
    if (camp == camps.end())
      camps.push_back({m});
    else
      camp->push_back(m);
  }
  std::ranges::stable_sort(camps, std::greater<>(), &std::vector<std::size_t>::size);
  return camps;
}

std::vector<int> ranks_of(const Operation& operation, const std::vector<std::size_t>& members) {
  std::vector<int> ranks;
  for (const std::size_t m : members) ranks.push_back(operation.members[m]);
  return ranks;
}

std::string camp_text(const Operation& operation, const std::vector<std::size_t>& members) {
  const Call& call = *operation.calls[members.front()];
  std::string text = ranks_text(ranks_of(operation, members)) + " called " + describe(call);
  if (members.size() == 1) text += " (its call " + std::to_string(call.number) + ")";
  return text + place_text(call);
}

/// Who calls in another order: those who are fewer, where somebody is.
std::string accusation(const Operation& operation,
                       const std::vector<std::vector<std::size_t>>& camps) {
  std::vector<int> few;
  for (std::size_t c = 1; c < camps.size(); ++c)
    for (const int rank : ranks_of(operation, camps[c])) few.push_back(rank);
  std::ranges::sort(few);
  if (camps[0].size() > camps[1].size())
    return ranks_text(few) + (few.size() == 1 ? " does not call" : " do not call") +
           " its collectives in the order of the others";
  std::vector<int> all = ranks_of(operation, camps[0]);
  all.insert(all.end(), few.begin(), few.end());
  std::ranges::sort(all);
  return ranks_text(all) + " do not call their collectives in one order";
}

}  // namespace

std::string ranks_text(const std::vector<int>& ranks) {
  if (ranks.size() == 1) return "rank " + std::to_string(ranks.front());
  const bool row = ranks.size() > 3 &&
                   ranks.back() - ranks.front() + 1 == static_cast<int>(ranks.size()) &&
                   std::ranges::is_sorted(ranks);
  if (row) return "ranks " + std::to_string(ranks.front()) + " to " + std::to_string(ranks.back());
  std::string text = "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) text += i + 1 == ranks.size() ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  return text;
}

std::vector<int> Operation::missing() const {
  std::vector<int> ranks;
  for (std::size_t m = 0; m < members.size(); ++m)
    if (!calls[m]) ranks.push_back(members[m]);
  return ranks;
}

Order::Order(int world) : world_(world), ranks_(static_cast<std::size_t>(world)) {}

void Order::add_group(int rank, const std::string& name, const std::vector<int>& ranks) {
  Group& group = groups_[name];
  if (group.ranks.empty()) {
    group.ranks = ranks;
    group.told_by = rank;
    group.told.resize(static_cast<std::size_t>(world_));
  } else if (group.ranks != ranks) {
    refuse(rank, "it has process group \"" + name + "\" of " + ranks_text(ranks) + ", and rank " +
                     std::to_string(group.told_by) + " has that one of " + ranks_text(group.ranks) +
                     ": every rank must make all groups in one order");
  }
  group.told[static_cast<std::size_t>(rank)] = true;
}

void Order::add(const Event& event) {
  Rank& rank = ranks_[static_cast<std::size_t>(event.rank)];
  rank.waits.clear();
  if (event.kind == Event::Kind::kWait)
    for (const std::int64_t call : event.waited)
      rank.waits.push_back(operation_of(event.rank, call));
  if (event.kind != Event::Kind::kCall) return;
  const Call& call = event.call;
  if (call.number != static_cast<std::int64_t>(rank.operation.size()) + 1)
    refuse(event.rank, "its call " + std::to_string(call.number) + " follows call " +
                           std::to_string(rank.operation.size()));
  const auto group = groups_.find(call.group);
  if (group == groups_.end() || !group->second.told[static_cast<std::size_t>(event.rank)])
    refuse(event.rank, "it calls " + describe(call) + " in a process group \"" + call.group +
                           "\" that it has not told of");
  rank.operation.push_back(is_point_to_point(call.kind)
                               ? point_to_point(event.rank, call)
                               : collective(event.rank, call, group->second));
  rank.latest = call;
}

std::size_t Order::collective(int rank, const Call& call, Group& group) {
  std::size_t& next = ranks_[static_cast<std::size_t>(rank)].next[call.group];
  if (next == group.operations.size()) {
    group.operations.push_back(operations_.size());
    Operation& added = operations_.emplace_back();
    added.members = group.ranks;
    added.calls.resize(group.ranks.size());
  }
  const std::size_t operation = group.operations[next++];
  enter(operation, rank, call);
  return operation;
}

std::size_t Order::point_to_point(int rank, const Call& call) {
  const bool receives = call.kind == CallKind::kReceive;
  const int sender = receives ? call.peer : rank;
  const int receiver = receives ? rank : call.peer;
  if (call.peer < 0 || call.peer == rank)
    refuse(rank, "its " + std::string(name_of(call.kind)) + " has no other end");
  auto& others = open_[{call.group, sender, receiver, call.tag, !receives}];
  std::size_t operation = operations_.size();
  if (!others.empty()) {
    operation = others.front();
    others.pop_front();
  } else {
    open_[{call.group, sender, receiver, call.tag, receives}].push_back(operation);
    Operation& added = operations_.emplace_back();
    added.members = {sender, receiver};
    added.calls.resize(2);
  }
  enter(operation, rank, call);
  return operation;
}

void Order::enter(std::size_t index, int rank, const Call& call) {
  Operation& operation = operations_[index];
  const auto member = std::ranges::find(operation.members, rank) - operation.members.begin();
  for (const auto& other : operation.calls)
    if (other && !alike(*other, call)) operation.alike = false;
  if (!operation.alike && !conflict_) conflict_ = index;
  operation.calls[static_cast<std::size_t>(member)] = call;
  ++operation.called;
}

std::size_t Order::operation_of(int rank, std::int64_t call) const {
  const auto& calls = ranks_[static_cast<std::size_t>(rank)].operation;
  if (call < 1 || call > static_cast<std::int64_t>(calls.size()))
    refuse(rank, "it waits for its call " + std::to_string(call) + ", and has called " +
                     std::to_string(calls.size()));
  return calls[static_cast<std::size_t>(call - 1)];
}

std::optional<std::size_t> Order::blocked_on(int rank) const {
  for (const std::size_t operation : ranks_[static_cast<std::size_t>(rank)].waits)
    if (!operations_[operation].complete()) return operation;
  return std::nullopt;
}

const Call* Order::latest_call(int rank) const {
  const auto& latest = ranks_[static_cast<std::size_t>(rank)].latest;
  return latest ? &*latest : nullptr;
}

std::string Order::describe_conflict() const {
  const Operation& operation = operations_[conflict_.value()];
  const auto camps = camps_of(operation);
  std::string text = accusation(operation, camps) + ": ";
  for (std::size_t c = camps.size(); c-- > 0;) {
    text += camp_text(operation, camps[c]);
    if (c > 0) text += ", where ";
  }
  const std::vector<int> silent = operation.missing();
  if (!silent.empty())
    text += "; " + ranks_text(silent) + (silent.size() == 1 ? " has" : " have") + " not called yet";
  return text;
}

}  // namespace gradwire::bridge
