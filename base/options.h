#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// Option tables: one row describes an option once, and the reader, help text, JSON Schema,
/// documentation page, `--set` and the desktop program's forms all derive from that row.
namespace gradwire {

enum class OptionType {
  kBoolean,
  kInteger,
  kNumber,  ///< a dimensionless number
  kText,
  kChoice,    ///< one of `choices`
  kBytes,     ///< unit string, such as "25MB"
  kRate,      ///< unit string, such as "1Gbps"
  kDuration,  ///< unit string, such as "50us"
};

std::string_view name_of(OptionType type);

struct OptionSpec {
  std::string name = {};
  OptionType type = OptionType::kText;
  std::string default_text = {};  ///< as a user would write it; empty = no default
  std::string help = {};  ///< one sentence, with the unit's meaning and the source of the default
  double min = -std::numeric_limits<double>::infinity();  ///< in the base unit (s, B, bps)
  double max = std::numeric_limits<double>::infinity();
  bool min_exclusive = false;
  bool max_exclusive = false;
  std::vector<std::string> choices = {};
};

using OptionTable = std::vector<OptionSpec>;

/// Unit-bearing values are held in base units (bytes, bits per second, seconds) as double.
using OptionValue = std::variant<bool, std::int64_t, double, std::string>;

/// Reads one value from text according to its row. Throws Error(kUsage) naming the option, the
/// text, and what is allowed.
OptionValue parse_option(const OptionSpec& spec, std::string_view text);

/// The range or set of choices a row allows, for messages and documentation.
std::string allowed_text(const OptionSpec& spec);

/// The candidate nearest in edit distance, or empty if none is near (more than a third differs).
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

/// Checked values of one option table: every option of the table is present.
class OptionValues {
 public:
  OptionValues() = default;
  /// Defaults of `table` overridden by `texts`. Throws Error(kUsage) for unknown names (with the
  /// nearest one), malformed and out-of-range values, and options without default that are missing.
  OptionValues(const OptionTable& table, const std::map<std::string, std::string>& texts);

  /// Precondition (assertion): the option exists and has that type.
  bool boolean(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;            ///< kNumber, kBytes, kRate, kDuration
  const std::string& text(std::string_view name) const;  ///< kText, kChoice

  const std::map<std::string, OptionValue, std::less<>>& all() const { return values_; }

 private:
  const OptionValue& at(std::string_view name) const;
  std::map<std::string, OptionValue, std::less<>> values_;
};

}  // namespace gradwire
