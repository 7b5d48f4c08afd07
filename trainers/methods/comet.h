#pragma once
#include <cstddef>
#include <span>

/// What COMET's method and its layers (comet_layers.cc) tell each other of a convolution: floats of
/// Method::layer_memory, at the tensor that is its weight.
namespace gradwire::methods {

struct CometMemory {
  static constexpr std::size_t kBound = 0;        ///< of the saved input; 0: it is kept as it is
  static constexpr std::size_t kLossSquares = 1;  ///< S, see comet.cc; of a watched pass
  static constexpr std::size_t kShare =
      2;  ///< R: of the input, the share that is not 0; of one, too
  static constexpr std::size_t kError = 3;       ///< the largest error of an element; of one, too
  static constexpr std::size_t kElements = 4;    ///< of the input
  static constexpr std::size_t kStored = 5;      ///< the bytes that they are kept in
  static constexpr std::size_t kMeanStored = 6;  ///< of all steps so far
  static constexpr std::size_t kFloats = 7;
};

/// sigma = eb sqrt(R S / 3), the standard deviation of a weight gradient's error under errors that
/// are uniform in +-eb on the share R of the input that is not 0.
double gradient_deviation(double bound, double share, double loss_squares);
/// The bound at which sigma = target * momentum; 0 where there is none.
double error_bound(double target, double momentum, double share, double loss_squares);

}  // namespace gradwire::methods
