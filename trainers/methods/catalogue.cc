#include "trainers/methods/catalogue.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "trainers/methods/rows.h"

namespace gradwire::methods {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& reason,
                         const std::string& advice) {
  throw Error(ErrorKind::kCapability, "load methods from", path, reason, advice);
}

void add_module(const std::string& path, std::vector<MethodRow>& rows) {
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char* advice = "check the paths in GRADWIRE_METHODS";
  if (module == nullptr) refuse(path, dlerror(), advice);
  const auto version = reinterpret_cast<ModuleVersion>(dlsym(module, kModuleVersionSymbol));
  const auto rows_of = reinterpret_cast<ModuleRows>(dlsym(module, kModuleRowsSymbol));
  if (version == nullptr || rows_of == nullptr)
    refuse(path, "it defines no methods", "end its source with GRADWIRE_METHOD_MODULE");
  if (std::string_view(version()) != kModuleVersion)
    refuse(
        path,
        "it was built for \"" + std::string(version()) + "\", this is \"" + kModuleVersion + "\"",
        "build it again with this program's headers");
  const std::unique_ptr<std::vector<MethodRow>> added(rows_of());
  for (MethodRow& row : *added) {
    const auto same = [&](const MethodRow& other) { return other.name == row.name; };
    if (std::any_of(rows.begin(), rows.end(), same) || compressors::find_codec(row.name) ||
        row.name == "compressed")
      refuse(path, "there is a method \"" + row.name + "\" already", "give it another name");
    rows.push_back(std::move(row));
  }
}

std::vector<MethodRow> make_catalogue() {
  std::vector<MethodRow> rows = {dgc_row(),
                                 terngrad_row(),
                                 mixed_precision_row(),
                                 rigl_row(),
                                 qnn_row(),
                                 admm_row(),
                                 comet_row(),
                                 qsgd_row(),
                                 qsvrg_row(),
                                 natural_row(),
                                 dither_row(),
                                 fastsgd_row(),
                                 cgx_row(),
                                 comp_ams_row(),
                                 qcmd_row(),
                                 qrda_row(),
                                 batch_augmentation_row(),
                                 stc_row(),
                                 dhqc_row(),
                                 zerofl_row(),
                                 choco_sgd_row(),
                                 deepsqueeze_row(),
                                 low_precision_row(),
                                 aq_sgd_row()};
  const char* variable = std::getenv("GRADWIRE_METHODS");
  const std::string paths = variable ? variable : "";
  for (std::size_t at = 0; at < paths.size();) {
    const std::size_t end = std::min(paths.find(':', at), paths.size());
    if (end > at) add_module(paths.substr(at, end - at), rows);
    at = end + 1;
  }
  return rows;
}

}  // namespace

std::string_view name_of(Reproduction state) {
  switch (state) {
    case Reproduction::kReproduced:
      return "reproduced";
    case Reproduction::kPartly:
      return "partly";
    case Reproduction::kNotReproduced:
      return "not reproduced";
    case Reproduction::kReconstruction:
      return "reconstruction";
  }
  return "?";
}

const std::vector<MethodRow>& method_catalogue() {
  static const std::vector<MethodRow> catalogue = make_catalogue();
  return catalogue;
}

const MethodRow* find_method(std::string_view name) {
  for (const MethodRow& row : method_catalogue())
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace gradwire::methods
