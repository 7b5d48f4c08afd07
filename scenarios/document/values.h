#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "scenarios/fields/fields.h"

/// Single values: checked against their row and brought into one canonical form, so that "1Gbps"
/// and "1000Mbps" mean, print and hash the same.
namespace gradwire::scenarios {

struct CheckedValue {
  nlohmann::ordered_json value;  ///< canonical; null if refused
  double base = 0;               ///< of numbers and unit strings, in the base unit (s, B, bps)
  std::string problem;           ///< empty if accepted
  std::string suggestion;
};

CheckedValue check_value(const Field& field, const nlohmann::ordered_json& given);

/// The row's default in canonical form; null if it has none.
nlohmann::ordered_json default_value(const Field& field);

/// A number or unit string from its base unit, rounded to 12 significant digits (sweep ranges).
/// Precondition (assertion): a numeric row.
nlohmann::ordered_json value_of_base(const Field& field, double base);
bool is_numeric(const Field& field);

/// Sizes: the shortest exact text. Rates and durations: in the largest unit that they reach,
/// rounded to 12 significant digits.
std::string canonical_bytes(double bytes);
std::string canonical_rate(double bits_per_second);
std::string canonical_duration(double seconds);

/// What a row allows, for messages and documentation.
std::string allowed_of(const Field& field);

}  // namespace gradwire::scenarios
