#pragma once
#include <vector>

namespace gradwire::gui {

/// Round positions (1, 2 or 5 times a power of ten apart) inside [from, to], at most `most`.
std::vector<double> round_ticks(double from, double to, int most);

}  // namespace gradwire::gui
