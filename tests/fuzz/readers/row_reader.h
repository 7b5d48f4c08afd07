#pragma once
#include "tests/fuzz/readers/inputs.h"

/// A database that someone else has written into: "table.column=value" puts the value (a number,
/// or else text or bytes) into all rows of a small database, all of which is then read, reported
/// and put back.
namespace gradwire::testing {

Inputs row_seeds();
bool read_row(std::span<const std::byte> bytes);

}  // namespace gradwire::testing
