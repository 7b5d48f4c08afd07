#include "emulator/cluster/clock_offset.h"

#include <algorithm>

#include "base/error.h"

namespace gradwire::emulator {

ClockOffset offset_of(std::span<const ClockSample> samples) {
  GRADWIRE_ASSERT(!samples.empty());
  const ClockSample& best = *std::ranges::min_element(
      samples, {}, [](const ClockSample& sample) { return sample.answered - sample.asked; });
  const Seconds half = (best.answered - best.asked) / 2;
  return {best.answer - best.asked - half, half};
}

}  // namespace gradwire::emulator
