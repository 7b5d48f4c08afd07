#pragma once
#include <string>

#include "bench/measured/judged.h"
#include "bench/measured/table.h"

/// Rows of tables as scenarios: what `gradwire predict` says of them, from a layer table, a device
/// profile and a network's figures, in closed form with its usual constants.
///
/// A scenario has NVLink by name inside a node, and of several nodes the adapters that the row
/// states, of 400 Gbps at most each. It cannot say what only a row knows: a board's own clocks and
/// memory, which layers a program fuses or computes again, that weights are sharded (they are whole
/// there: the closed forms have no sharding), sums of half width in the exchange.
namespace gradwire::bench {

/// Why the row cannot be written as a scenario with a closed form; empty if it can.
std::string why_no_scenario(const MeasuredStep& step);

/// The layer table that stands for its workload: "llama3-8b"; empty where there is none.
std::string table_of(const MeasuredStep& step);

/// Of a scenario: "fp16" of amp, fp16 and bf16.
std::string scenario_precision(const MeasuredStep& step);

/// The text of the device's profile, its constants of kernels and its range fitted to the shipped
/// rows without those of the source and workload.
std::string profile_without(const std::string& device, const std::string& source,
                            const std::string& workload);

/// `device`: the text of a profile. The band is that which `predict` prints.
JudgedRow predicted_as_scenario(const MeasuredStep& step, const std::string& device);

}  // namespace gradwire::bench
