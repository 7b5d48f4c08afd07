#pragma once
#include "scenarios/trainer.h"
#include "trainers/layout.h"

/// `exchange.collective: auto`: the fastest of the collectives that compute the same.
namespace gradwire::trainers {

/// Times one step's exchange alone by every collective that the scenario's codec and network can
/// take: its step graph, with no time for computing or encoding, on executor `flow` over the
/// scenario's cluster without loss and with windows open from the start. Sizes are formulas; of
/// codecs whose messages depend on values, the largest they can be. Kept for the life of the
/// process by network, codec, layout and workers.
///
/// Sums: ring, tree, halving-doubling, and two-level where a group is smaller than all; other
/// messages: ring, direct. Never a server, switches that add or scatter-reduce, which need other
/// machines or round otherwise. Fastest first, ties in this order; empty unless the scenario says
/// auto.
scenarios::CollectiveChoice choose_collective(const scenarios::Scenario& scenario,
                                              const Layout& layout);

/// The scenario with the choice's fastest collective, or as it is.
scenarios::Scenario with_choice(scenarios::Scenario scenario,
                                const scenarios::CollectiveChoice& choice);

}  // namespace gradwire::trainers
