#pragma once
#include <string>

/// Which device profiles are alike: boards with one chip, chips of one generation.
namespace gradwire::results {

/// The device whose chip it has, on another board; itself where there is none.
std::string chip_of(const std::string& device);

/// 0 one board, 1 one chip, 2 one generation, 3 neither. A device that is not known is like none.
int device_distance(const std::string& one, const std::string& other);

}  // namespace gradwire::results
