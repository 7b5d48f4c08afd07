#pragma once
#include <string>

#include "results/reproductions/reproduction.h"

namespace gradwire::results {

/// A published figure with four digits.
std::string published_figure(double value);

/// What arithmetic says beside what was published: |predicted / published - 1|, at most `most`.
/// `unit` stands behind both figures of the claim.
ReproductionRow predicted_row(std::string name, std::string method, double published,
                              double predicted, const std::string& unit, double most,
                              bool negative_control);

}  // namespace gradwire::results
