#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "results/reproductions/reproduction.h"

/// Published times of training with a parameter server, by what its messages hold.
///
/// Model. Every step each machine sends a message of m bytes and receives one of the same size;
/// what a run takes beside that is the same for all methods:
///
///   time = fixed + m / m_dense transmission
///
/// Two rows at one bandwidth give both, the dense one and the one that sends least; the others
/// follow. How often that is done (steps, epochs), and where the servers are, is in `transmission`
/// and need not be known.
///
/// Message (BytePS, byteps/common). Tensors below 65,536 bytes are sent as they are, 4 bytes a
/// value; larger ones in parts of 4,096,000 bytes, each encoded by itself.
///
/// Limits. What a method computes beyond the one that sends least is not there, nor what hides
/// behind the backward pass.
namespace gradwire::results {

enum class MessageEncoding {
  kDense,      ///< 4 bytes a value
  kSignBytes,  ///< a byte a value and a scale of 4 bytes
  kSignBits,   ///< an eighth of that, what one-bit quantisation needs
  kPairs,      ///< so many values a part, each with its index, 8 bytes
};

struct TrainedTensors {
  double tensors = 0;
  double values = 0;  ///< of each
};

/// Bytes that one step sends for these tensors. `kept`: values of a part, for pairs.
Bytes message_bytes(const std::vector<TrainedTensors>& tensors, MessageEncoding encoding,
                    double kept);

/// BytePS's ResNet-18 with four methods at two bandwidths (scenarios/published/byteps.csv, tensors
/// in byteps-tensors.csv): times of the methods in between, as ratios to the dense one's, within a
/// fifth, and the methods' order at the lowest bandwidth. Negative control: one bit a value in
/// place of the byte that the program sends. Throws Error for tables that cannot be read or give
/// no constants.
std::vector<ReproductionRow> reproduce_byteps(std::string_view csv, const std::string& file,
                                              std::string_view tensors_csv,
                                              const std::string& tensors_file);

}  // namespace gradwire::results
