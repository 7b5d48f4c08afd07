#pragma once
#include <cstdint>

#include "base/host_device.h"

/// Counter-based random numbers: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random
/// numbers: as easy as 1, 2, 3", SC 2011). A draw is a pure function of its counter and key, so
/// any thread, vector lane or GPU computes any element's draw without shared state.
///
/// Addressing. key = 64-bit seed; counter = {element / 4, tensor, worker, step}; element e takes
/// word e mod 4. Limit: element < 2^34. Tensor ids from kFirstReservedTensor up are streams that no
/// codec uses (shuffling, initialisation, simulated losses).
namespace gradwire {

struct PhiloxBlock {
  std::uint32_t word[4];
};

inline constexpr std::uint32_t kFirstReservedTensor = 0x80000000u;

/// Which sequence of draws: one tensor of one worker at one step of one seeded run.
struct RandomStream {
  std::uint64_t seed = 0;
  std::uint32_t step = 0;
  std::uint32_t worker = 0;
  std::uint32_t tensor = 0;
};

GRADWIRE_HD PhiloxBlock philox4x32_10(PhiloxBlock counter, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = 0xD2511F53ull * counter.word[0];
    const std::uint64_t product1 = 0xCD9E8D57ull * counter.word[2];
    counter = PhiloxBlock{{static_cast<std::uint32_t>(product1 >> 32) ^ counter.word[1] ^ key0,
                           static_cast<std::uint32_t>(product1),
                           static_cast<std::uint32_t>(product0 >> 32) ^ counter.word[3] ^ key1,
                           static_cast<std::uint32_t>(product0)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

/// The four words that elements 4*block .. 4*block+3 use.
GRADWIRE_HD PhiloxBlock philox_block(const RandomStream& stream, std::uint32_t block) {
  return philox4x32_10(PhiloxBlock{{block, stream.tensor, stream.worker, stream.step}},
                       static_cast<std::uint32_t>(stream.seed),
                       static_cast<std::uint32_t>(stream.seed >> 32));
}

GRADWIRE_HD std::uint32_t philox_word(const RandomStream& stream, std::uint64_t element) {
  return philox_block(stream, static_cast<std::uint32_t>(element >> 2)).word[element & 3];
}

/// u in [0, 1): the top 24 bits of a word, exact in binary32.
GRADWIRE_HD float uniform_from_word(std::uint32_t word) {
  return static_cast<float>(word >> 8) * (1.0f / 16777216.0f);
}

GRADWIRE_HD float uniform(const RandomStream& stream, std::uint64_t element) {
  return uniform_from_word(philox_word(stream, element));
}

}  // namespace gradwire
