#pragma once
#include <string>

namespace gradwire::methods {

/// The shortest text that reads back as the same number: "0.001".
std::string number_text(double value);

}  // namespace gradwire::methods
