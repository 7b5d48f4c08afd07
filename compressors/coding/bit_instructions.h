#pragma once

/// Loops over codes of varying width are an eighth faster with the bit instructions of newer x86
/// processors (BMI, BMI2, LZCNT). Give the loop's body GRADWIRE_ALWAYS_INLINE, and call it from two
/// functions, one of them with GRADWIRE_BIT_INSTRUCTIONS, to be called if bit_instructions().
#if defined(__x86_64__) && defined(__GNUC__)
#define GRADWIRE_HAS_BIT_INSTRUCTIONS 1
#define GRADWIRE_BIT_INSTRUCTIONS __attribute__((target("bmi,bmi2,lzcnt")))
#else
#define GRADWIRE_HAS_BIT_INSTRUCTIONS 0
#define GRADWIRE_BIT_INSTRUCTIONS
#endif
#if defined(__GNUC__)
#define GRADWIRE_ALWAYS_INLINE inline __attribute__((always_inline))
#else
#define GRADWIRE_ALWAYS_INLINE inline
#endif

namespace gradwire::compressors {

/// The processor has them, and limit_instruction_sets() allows them (avx2 and above).
bool bit_instructions();

}  // namespace gradwire::compressors
