#pragma once
#include <string_view>

#include "base/error.h"

namespace gradwire::sim {

/// Something wrong with a cluster, a graph or a running simulation that its user can mend.
class SimError : public Error {
 public:
  SimError(std::string_view attempted, std::string_view subject, std::string_view reason,
           std::string_view remedy = {})
      : Error(ErrorKind::kFailure, attempted, subject, reason, remedy) {}
};

}  // namespace gradwire::sim
