#include "trainers/data/gzip.h"
#include "trainers/trainer_error.h"

/// gunzip() in programs that were built without zlib.
namespace gradwire::trainers {

std::vector<std::uint8_t> gunzip(std::span<const std::uint8_t>, const std::string& subject) {
  throw TrainerError("inflate", subject, "this program was built without zlib",
                     "unpack the file with gzip -d", ErrorKind::kCapability);
}

}  // namespace gradwire::trainers
