#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/options.h"
#include "trainers/methods/method.h"

/// The methods that a scenario can name beside plain codecs. A row feeds the scenario's fields and
/// their checks, schema, pages, completion and `gradwire methods`.
namespace gradwire::methods {

/// How far the paper's claims have been seen to hold here (docs/methods.md has each experiment).
enum class Reproduction {
  kReproduced,      ///< a reduced experiment passes its mark, its negative control fails
  kPartly,          ///< the method is whole, some of its claims have no experiment here
  kNotReproduced,   ///< an experiment missed its mark
  kReconstruction,  ///< the paper leaves out what is needed: built from its description
};
std::string_view name_of(Reproduction state);

/// What a method is made from.
struct MethodSettings {
  OptionValues options;  ///< of the row's table
  int workers = 1;
  bool error_feedback = false;  ///< as asked for; methods that feed back by themselves do not ask
};

struct MethodRow {
  std::string name;
  std::string summary;     ///< one clause
  std::string paper = {};  ///< authors, title, identifier
  Reproduction state = Reproduction::kPartly;
  std::string schedule = {};  ///< who works when: "synchronous"
  std::string routes = {};    ///< collectives that can carry it
  std::string sends = {};     ///< what is compressed, what is not
  std::string page = {};      ///< in docs/, empty for methods that a module brings
  OptionTable options = {};
  /// Error feedback where a scenario does not say; a method that asks for it can do without.
  bool feeds_back = false;
  /// The update rule that belongs to it; empty: any.
  std::string optimizer = {};
  /// The option `momentum`, where it has one, is the optimiser's unless the scenario says
  /// otherwise, and the optimiser must be sgd.
  bool takes_momentum = false;
  std::function<std::unique_ptr<Method>(const MethodSettings&)> make = {};
};

/// In the order in which they are listed: built in, then those of the modules that the environment
/// variable GRADWIRE_METHODS names (paths separated by ':'). Throws Error for a module that cannot
/// be loaded, was built for another version, or names a method that is there already.
const std::vector<MethodRow>& method_catalogue();
/// Null if there is none of that name (a codec's name, `compressed`).
const MethodRow* find_method(std::string_view name);

/// What a module defines, with C linkage: its rows (the caller deletes them) and the version that
/// it was built for.
using ModuleRows = std::vector<MethodRow>* (*)();
using ModuleVersion = const char* (*)();
inline constexpr const char* kModuleVersion = "gradwire methods 9";  ///< of these headers
inline constexpr const char* kModuleRowsSymbol = "gradwire_method_rows";
inline constexpr const char* kModuleVersionSymbol = "gradwire_method_version";

}  // namespace gradwire::methods

/// Makes a source file a module: `rows` is a function that gives std::vector<MethodRow>.
#define GRADWIRE_METHOD_MODULE(rows)                                                           \
  extern "C" __attribute__((visibility("default"))) const char* gradwire_method_version() {    \
    return gradwire::methods::kModuleVersion;                                                  \
  }                                                                                            \
  extern "C" __attribute__((visibility("default"))) std::vector<gradwire::methods::MethodRow>* \
  gradwire_method_rows() {                                                                     \
    return new std::vector<gradwire::methods::MethodRow>(rows());                              \
  }                                                                                            \
  static_assert(true)
