#pragma once
#include "base/error.h"

namespace gradwire::scenarios {

/// Training came to values that are not finite: what came of the run, not a failure of the program.
class Diverged : public Error {
 public:
  Diverged(std::string_view attempted, std::string_view subject, std::string_view reason,
           std::string_view remedy)
      : Error(ErrorKind::kFailure, attempted, subject, reason, remedy) {}
};

}  // namespace gradwire::scenarios
