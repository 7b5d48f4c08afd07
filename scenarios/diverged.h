#pragma once
#include <string>

#include "base/error.h"
#include "scenarios/scenario.h"

namespace gradwire::scenarios {

/// Training came to values that are not finite: what came of the run, not a failure of the program.
class Diverged : public Error {
 public:
  Diverged(std::string_view attempted, std::string_view subject, std::string_view reason,
           std::string_view remedy)
      : Error(ErrorKind::kFailure, attempted, subject, reason, remedy) {}
};

/// "codec fp16 sends what is beyond 65504 as infinity", where the scenario's codecs do so and its
/// method does not skip such steps; else empty.
std::string overflow_of(const Scenario& scenario);

/// What may help a scenario that has diverged.
std::string diverged_remedy(const Scenario& scenario);

}  // namespace gradwire::scenarios
