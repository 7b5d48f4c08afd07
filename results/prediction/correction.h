#pragma once
#include <vector>

namespace gradwire::results {

/// Factors on a model's time that simulations found, by a positive quantity (a message's bytes, a
/// bandwidth, ...): between known values linear in the quantity's logarithm, beyond them as at the
/// nearest, 1 where nothing is known.
struct Correction {
  std::vector<double> value;   ///< ascending
  std::vector<double> factor;  ///< [value]

  void add(double at_value, double its_factor);
  bool knows(double at_value) const;
  double at(double at_value) const;
};

}  // namespace gradwire::results
