#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/options.h"

/// Tables of options, as commands list them.
namespace gradwire::cli {

/// "bits=4, bucket=1024": the options with their defaults.
std::string defaults_text(const OptionTable& options);
/// Type, default, help, choices and range of each option.
nlohmann::ordered_json table_json(const OptionTable& options);

}  // namespace gradwire::cli
