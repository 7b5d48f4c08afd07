#pragma once
#include <span>

#include "tests/fuzz/readers.h"

/// The readers by what they read.
namespace gradwire::testing {

std::span<const Reader> scenario_readers();  ///< scenarios, profiles, command lines
std::span<const Reader> table_readers();     ///< traces, constants, tables, logs
std::span<const Reader> state_readers();     ///< databases, timelines, models, checkpoints
std::span<const Reader> message_readers();   ///< answers of child processes
std::span<const Reader> sample_readers();    ///< users' own data

}  // namespace gradwire::testing
