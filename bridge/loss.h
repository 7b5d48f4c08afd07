#pragma once
#include <map>
#include <string>

#include "bridge/order.h"
#include "bridge/rank_link.h"

/// Why a script's ranks went: when one goes, gloo fails in those that exchange data with it, and
/// their exceptions may be told before its connection ends.
namespace gradwire::bridge {

/// It ended by an exception, or its connection ended without a farewell.
bool is_lost(const RankLink& link);

/// "after its call 2, all-reduce (sum) of 16 float32 at train.py:42".
std::string last_words(const Order& order, int rank);

/// Names the rank that the others' failures come from, then those. At least one is lost. The cause
/// is the first that died before the first failed one's own process had ended (whoever dies later
/// may have been ended by the launcher; where both were found gone at once, the failed one must
/// have waited for it); else a rank that has ended without calling what the failed one waited for;
/// else the first that was lost.
std::string describe_loss(const std::map<int, RankLink*>& ranks, const Order& order);

}  // namespace gradwire::bridge
