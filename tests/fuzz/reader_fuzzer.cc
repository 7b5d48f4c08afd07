#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "tests/fuzz/readers.h"

/// libFuzzer target for the reader that GRADWIRE_FUZZ_READER names; with GRADWIRE_FUZZ_LIST it
/// prints the names that there are.
namespace {

const gradwire::testing::Reader& chosen() {
  static const gradwire::testing::Reader& reader = [] -> const gradwire::testing::Reader& {
    const char* const name = std::getenv("GRADWIRE_FUZZ_READER");
    return gradwire::testing::reader_named(name != nullptr ? name : "");
  }();
  return reader;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  if (std::getenv("GRADWIRE_FUZZ_LIST") != nullptr) {
    for (const gradwire::testing::Reader& reader : gradwire::testing::readers())
      std::puts(reader.name);
    std::exit(0);
  }
  const char* const folder = std::getenv("GRADWIRE_FUZZ_SEEDS");
  if (folder == nullptr) return 0;
  int number = 0;
  for (const std::vector<std::byte>& seed : chosen().seeds())
    std::ofstream(std::string(folder) + "/" + std::to_string(number++), std::ios::binary)
        .write(reinterpret_cast<const char*>(seed.data()),
               static_cast<std::streamsize>(seed.size()));
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen().read({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
