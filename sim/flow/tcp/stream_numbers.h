#pragma once
#include <array>
#include <cstdint>

/// The uniform numbers of ns-3: MRG32k3a, two recurrences of order 3 that are combined (L'Ecuyer,
/// "Good Parameters and Implementations for Combined Multiple Recursive Random Number Generators",
/// Operations Research 47(1), 1999, page 163), in streams 2^127 numbers apart and substreams 2^76
/// apart (L'Ecuyer, Simard, Chen, Kelton, "An Object-Oriented Random-Number Package with Many Long
/// Streams and Substreams", Operations Research 50(6), 2002):
///     x_n = (1403580 x_(n-2) - 810728 x_(n-3)) mod m1,    m1 = 2^32 - 209
///     y_n = (527612 y_(n-1) - 1370589 y_(n-3)) mod m2,    m2 = 2^32 - 22853
///     u_n = ((x_n - y_n) mod m1) / (m1 + 1)
namespace gradwire::sim {

class StreamNumbers {
 public:
  /// From the generator's own start: stream 0 of seed 1.
  StreamNumbers() = default;
  /// `seed`: of all six values, 1 to 4,294,944,442. Takes some 50 us.
  StreamNumbers(std::uint32_t seed, std::uint64_t stream, std::uint64_t substream);
  /// What each connection of ns-3 3.44's TcpBbr draws in that run: stream 4 of those that are asked
  /// for by number.
  static StreamNumbers of_bbr(std::uint64_t run);

  /// The next one, in (0, 1].
  double next();

 private:
  std::array<std::uint64_t, 3> x_{1, 1, 1};  ///< the oldest first
  std::array<std::uint64_t, 3> y_{1, 1, 1};
};

}  // namespace gradwire::sim
