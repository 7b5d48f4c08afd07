#include "bridge/loss.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

namespace gradwire::bridge {
namespace {

using Ranks = std::map<int, RankLink*>;

bool has_failed(const RankLink& link) {
  return !link.failure.empty();
}

bool has_died(const RankLink& link) {
  return link.closed() && !link.ended;
}

auto lost_at(const RankLink& link) {
  return link.ended ? link.ended_at : link.closed_at;
}

bool was_lost_before(const RankLink& a, const RankLink& b) {
  // Of two that were found gone at once, the one that told why is asked first.
  if (a.closed() && b.closed() && a.closed_in == b.closed_in && has_failed(a) != has_failed(b))
    return has_failed(a);
  return lost_at(a) < lost_at(b);
}

/// Of the ranks that `counts` holds for, who was lost first.
template <class Counts>
std::optional<int> first_of(const Ranks& ranks, Counts counts) {
  std::optional<int> first;
  for (const auto& [rank, link] : ranks)
    if (counts(*link) && (!first || was_lost_before(*link, *ranks.at(*first)))) first = rank;
  return first;
}

bool waited_for(const RankLink& failed, int rank, const Order& order) {
  return failed.blocked_on &&
         std::ranges::count(order.operations()[*failed.blocked_on].missing(), rank) > 0;
}

/// Who died while the process of `failed` was still there.
std::optional<int> died_before(const Ranks& ranks, const RankLink& failed, const Order& order) {
  return first_of(ranks, [&](const RankLink& link) {
    if (!has_died(link)) return false;
    if (!failed.closed() || link.closed_in < failed.closed_in) return true;
    return link.closed_in == failed.closed_in && waited_for(failed, *link.rank, order);
  });
}

/// Who has ended without calling what `failed` waited for.
std::optional<int> ended_before(const Ranks& ranks, const RankLink& failed, const Order& order) {
  if (!failed.blocked_on) return std::nullopt;
  for (const int rank : order.operations()[*failed.blocked_on].missing()) {
    const auto found = ranks.find(rank);
    if (found != ranks.end() && found->second->ended) return rank;
  }
  return std::nullopt;
}

int cause_of(const Ranks& ranks, const Order& order) {
  const int first = first_of(ranks, is_lost).value();
  if (!has_failed(*ranks.at(first))) return first;
  if (const auto died = died_before(ranks, *ranks.at(first), order)) return *died;
  int cause = first;
  std::set<int> seen = {first};
  while (const auto next = ended_before(ranks, *ranks.at(cause), order)) {
    if (!seen.insert(*next).second) return first;  // they waited for each other
    cause = *next;
  }
  return cause;
}

std::string cause_text(int rank, const RankLink& link, const Order& order) {
  const std::string who = "rank " + std::to_string(rank), where = last_words(order, rank);
  if (has_failed(link)) return who + " failed: " + link.failure + "; it was lost " + where;
  if (link.ended) return who + " is through with its script " + where;
  return who + " died (process " + std::to_string(link.process()) +
         ") without a farewell; it was lost " + where;
}

/// The first of those that failed besides `cause`, and who else.
std::string victims_text(const Ranks& ranks, int cause, const Order& order) {
  const RankLink* const culprit = ranks.at(cause);
  const auto first =
      first_of(ranks, [&](const RankLink& link) { return &link != culprit && has_failed(link); });
  if (!first) return {};
  std::vector<int> others;
  for (const auto& [rank, link] : ranks)
    if (rank != cause && rank != *first && has_failed(*link)) others.push_back(rank);
  return "; then rank " + std::to_string(*first) + " failed " + last_words(order, *first) + ": " +
         ranks.at(*first)->failure + (others.empty() ? "" : "; so did " + ranks_text(others));
}

}  // namespace

bool is_lost(const RankLink& link) {
  return has_failed(link) || has_died(link);
}

std::string last_words(const Order& order, int rank) {
  const Call* call = order.latest_call(rank);
  if (!call) return "before its first call";
  return "after its call " + std::to_string(call->number) + ", " + describe(*call) +
         place_text(*call);
}

std::string describe_loss(const Ranks& ranks, const Order& order) {
  const int cause = cause_of(ranks, order);
  return cause_text(cause, *ranks.at(cause), order) + victims_text(ranks, cause, order);
}

}  // namespace gradwire::bridge
