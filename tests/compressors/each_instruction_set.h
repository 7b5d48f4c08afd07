#pragma once
#include <catch2/catch.hpp>

#include "compressors/instruction_sets.h"

namespace gradwire::compressors::testing {

/// Runs `check` on each instruction set that the kernels have and this machine too.
template <class Check>
void on_each_instruction_set(Check&& check) {
  struct AllAgain {
    ~AllAgain() { limit_instruction_sets("best"); }
  } after;
  for (const std::string& name : instruction_sets()) {
    limit_instruction_sets(name);
    INFO("instruction set " << name);
    check();
  }
}

}  // namespace gradwire::compressors::testing
