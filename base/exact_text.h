#pragma once
#include <string>

namespace gradwire {

/// The shortest text that reads back as the same number: "0.001".
std::string exact_text(double value);

}  // namespace gradwire
