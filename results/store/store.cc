#include "results/store/store.h"

#include <array>
#include <utility>

namespace gradwire::results {
namespace {

constexpr std::array<std::string_view, 6> kStatusNames = {"running", "finished", "partial",
                                                          "failed",  "diverged", "invalid"};
constexpr std::array<std::string_view, 8> kProvenanceNames = {
    "measured",  "simulated", "emulated", "predicted",
    "published", "assumed",   "given",    "partly emulated"};

template <class Enum, std::size_t size>
Enum parse(const std::array<std::string_view, size>& names, std::string_view name,
           std::string_view what) {
  for (std::size_t i = 0; i < size; ++i)
    if (names[i] == name) return static_cast<Enum>(i);
  throw StoreError("read", what, "\"" + std::string(name) + "\" is no such name",
                   "the database may be damaged or made by a newer Gradwire");
}

}  // namespace

std::string_view name_of(RunStatus status) {
  return kStatusNames[static_cast<std::size_t>(status)];
}
std::string_view name_of(Provenance provenance) {
  return kProvenanceNames[static_cast<std::size_t>(provenance)];
}
RunStatus run_status(std::string_view name) {
  return parse<RunStatus>(kStatusNames, name, "a run's status");
}
Provenance provenance_of(std::string_view name) {
  return parse<Provenance>(kProvenanceNames, name, "a figure's provenance");
}

}  // namespace gradwire::results
