#pragma once
#include <cstdlib>
#include <string>

#include "tests/skip.h"

namespace gradwire::testing {

/// A Python that has PyTorch: GRADWIRE_TEST_PYTHON, else python3. Skips the case where it has none.
inline std::string python_with_torch() {
  const char* given = std::getenv("GRADWIRE_TEST_PYTHON");
  const std::string python = given && *given ? given : "python3";
  if (std::system((python + " -c 'import torch.distributed' >/dev/null 2>&1").c_str()) != 0)
    skip(python + " cannot import torch (GRADWIRE_TEST_PYTHON names another)");
  return python;
}

}  // namespace gradwire::testing
