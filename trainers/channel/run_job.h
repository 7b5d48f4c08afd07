#pragma once
#include "compressors/codec.h"

namespace gradwire::trainers {

/// A codec's job within a run, without its state and payload. A refusal ends the run, so that the
/// state need not outlive one.
inline compressors::EncodeJob run_job(const compressors::TensorView& tensor,
                                      const RandomStream& draws, std::uint64_t first_element = 0) {
  return {.tensor = tensor,
          .draws = {.stream = draws, .first_element = first_element},
          .keeps_state = false};
}

}  // namespace gradwire::trainers
