#include "base/exact_text.h"

#include <charconv>

namespace gradwire {

std::string exact_text(double value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace gradwire
