#pragma once
#include <string>
#include <string_view>
#include <vector>

/// The instruction sets that the codecs' kernels may use. Each gives the same bytes: choosing one
/// is for measurements and tests.
namespace gradwire::compressors {

/// Those that were compiled and that this processor has, best first, in lower case: "avx3_dl"
/// (AVX-512 with VBMI, as of Ice Lake and Zen 4), "avx3" (AVX-512), "avx2", "sse2", "neon", ...
std::vector<std::string> instruction_sets();

/// The one in use: the best that is allowed.
std::string instruction_set();

/// Allows `best` and what is below it; "best" allows all again. Takes effect with the next call of
/// a codec: not to be called while another thread uses one. Throws Error(kUsage) for a name that
/// instruction_sets() would not list, and where kernels were compiled for one set alone.
void limit_instruction_sets(std::string_view best);

}  // namespace gradwire::compressors
