#include "base/error.h"
#include "base/gzip.h"

/// gunzip() in programs that were built without zlib.
namespace gradwire {

std::vector<std::uint8_t> gunzip(std::span<const std::uint8_t>, const std::string& subject) {
  throw Error(ErrorKind::kCapability, "inflate", subject, "this program was built without zlib",
              "unpack the file with gzip -d");
}

}  // namespace gradwire
