#include <cstring>

#include "compressors/kernels/philox.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/philox.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

struct WordStore {
  std::uint32_t* out;
#if HWY_TARGET != HWY_SCALAR
  HWY_INLINE void unit(std::size_t i, const WordUnit& words) {
    store_unit(words, out + i);
  }
#endif
  HWY_INLINE void tail(std::size_t i, std::size_t count, const std::uint32_t* words) {
    std::memcpy(out + i, words, 4 * count);
  }
};

HWY_ATTR void DrawWords(const Draws& draws, std::size_t begin, std::size_t n,
                        std::uint32_t* words) {
  WordStore store{words};
  for_words(draws, begin, n, store);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(DrawWords);

void draw_words(const Draws& draws, std::size_t begin, std::size_t n, std::uint32_t* words) {
  HWY_DYNAMIC_DISPATCH(DrawWords)(draws, begin, n, words);
}

}  // namespace gradwire::compressors::kernels
#endif
