#pragma once
#include <string>
#include <vector>

#include "cli/context.h"

/// `gradwire calibrate --from`: constants of the library of collectives from logs of nccl-tests.
namespace gradwire::cli {

struct CalibrateNcclArguments {
  std::vector<std::string> logs;
  std::string gpu, between;
};

/// Prints the fit; writes the part of a scenario that uses it to `output`, unless that is empty.
void calibrate_nccl(const CalibrateNcclArguments& arguments, const std::string& output,
                    Context& context);

}  // namespace gradwire::cli
