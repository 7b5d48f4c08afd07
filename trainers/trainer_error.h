#pragma once
#include "base/error.h"

namespace gradwire::trainers {

/// What files, scenarios or the machine can cause while training.
class TrainerError : public Error {
 public:
  TrainerError(std::string_view attempted, std::string_view subject, std::string_view reason,
               std::string_view remedy = {}, ErrorKind kind = ErrorKind::kFailure)
      : Error(kind, attempted, subject, reason, remedy) {}
};

}  // namespace gradwire::trainers
