#include "base/options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "base/error.h"
#include "base/units.h"

namespace gradwire {
namespace {

std::string in_quotes(std::string_view text) {
  return std::string("\"").append(text).append("\"");
}

std::string number_text(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.9g", value);
  return buffer;
}

Error refuse(const OptionSpec& spec, std::string_view text, std::string_view reason) {
  return Error(ErrorKind::kUsage, "set option " + spec.name, "to " + in_quotes(text), reason,
               "allowed: " + allowed_text(spec));
}

double checked_range(const OptionSpec& spec, std::string_view text, double value) {
  const bool low = spec.min_exclusive ? value <= spec.min : value < spec.min;
  const bool high = spec.max_exclusive ? value >= spec.max : value > spec.max;
  if (low || high) throw refuse(spec, text, "it is out of range");
  return value;
}

template <class T>
T parse_plain(const OptionSpec& spec, std::string_view text, std::string_view kind) {
  T value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size())
    throw refuse(spec, text, std::string("it is not ").append(kind));
  return value;
}

bool parse_boolean(const OptionSpec& spec, std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  throw refuse(spec, text, "it is not a boolean");
}

std::string parse_choice(const OptionSpec& spec, std::string_view text) {
  if (std::find(spec.choices.begin(), spec.choices.end(), text) != spec.choices.end())
    return std::string(text);
  const std::string near = nearest_name(text, spec.choices);
  throw refuse(spec, text,
               near.empty() ? "it is not a choice" : "did you mean " + in_quotes(near) + "?");
}

// Letters to change, add or leave out; `limit` where there are as many or more. A row's least entry
// never falls, so the rows end where it reaches the limit: most names of a long list are told apart
// by their first letters.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    std::size_t least = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
      least = std::min(least, row[j]);
    }
    if (least >= limit) return limit;
  }
  return row.back();
}

}  // namespace

std::string_view name_of(OptionType type) {
  switch (type) {
    case OptionType::kBoolean:
      return "boolean";
    case OptionType::kInteger:
      return "integer";
    case OptionType::kNumber:
      return "number";
    case OptionType::kText:
      return "text";
    case OptionType::kChoice:
      return "choice";
    case OptionType::kBytes:
      return "size";
    case OptionType::kRate:
      return "rate";
    case OptionType::kDuration:
      return "duration";
  }
  return "?";
}

OptionValue parse_option(const OptionSpec& spec, std::string_view text) {
  switch (spec.type) {
    case OptionType::kBoolean:
      return parse_boolean(spec, text);
    case OptionType::kInteger: {
      const auto value = parse_plain<std::int64_t>(spec, text, "a whole number");
      checked_range(spec, text, static_cast<double>(value));
      return value;
    }
    case OptionType::kNumber: {
      const auto value = parse_plain<double>(spec, text, "a number");
      if (!std::isfinite(value)) throw refuse(spec, text, "it is not finite");
      return checked_range(spec, text, value);
    }
    case OptionType::kText:
      return std::string(text);
    case OptionType::kChoice:
      return parse_choice(spec, text);
    case OptionType::kBytes:
      return checked_range(spec, text, static_cast<double>(parse_bytes(text).count()));
    case OptionType::kRate:
      return checked_range(spec, text, parse_rate(text).value());
    case OptionType::kDuration:
      return checked_range(spec, text, parse_duration(text).value());
  }
  GRADWIRE_ASSERT(false);
  return false;
}

std::string allowed_text(const OptionSpec& spec) {
  if (spec.type == OptionType::kBoolean) return "true, false";
  if (spec.type == OptionType::kChoice) {
    std::string text;
    for (const std::string& choice : spec.choices) text += (text.empty() ? "" : ", ") + choice;
    return text;
  }
  std::string text(name_of(spec.type));
  if (spec.type == OptionType::kBytes) text += " with unit (B kB MB GB KiB MiB GiB)";
  if (spec.type == OptionType::kRate) text += " with unit (bps kbps Mbps Gbps, Bps kBps MBps)";
  if (spec.type == OptionType::kDuration) text += " with unit (ns us ms s min h)";
  if (std::isfinite(spec.min))
    text += (spec.min_exclusive ? " > " : " >= ") + number_text(spec.min);
  if (std::isfinite(spec.min) && std::isfinite(spec.max)) text += " and";
  if (std::isfinite(spec.max))
    text += (spec.max_exclusive ? " < " : " <= ") + number_text(spec.max);
  return text;
}

namespace {

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return lower;
}

}  // namespace

std::string nearest_name(std::string_view name, std::span<const std::string> candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  const std::string lower = in_lower_case(name);
  for (const std::string& candidate : candidates) {
    // So many letters at least have to be added or left out.
    const std::size_t shorter = std::min(name.size(), candidate.size());
    if (std::max(name.size(), candidate.size()) - shorter >= best_distance) continue;
    const std::size_t distance = edit_distance(lower, in_lower_case(candidate), best_distance);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

OptionValues::OptionValues(const OptionTable& table,
                           const std::map<std::string, std::string>& texts) {
  std::vector<std::string> names;
  for (const OptionSpec& spec : table) names.push_back(spec.name);
  for (const auto& [name, text] : texts) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string near = nearest_name(name, names);
    std::string all;
    for (const std::string& each : names) all += (all.empty() ? "" : ", ") + each;
    throw Error(
        ErrorKind::kUsage, "set option", in_quotes(name),
        "there is no such option" + (near.empty() ? "" : "; did you mean " + in_quotes(near) + "?"),
        "allowed: " + (all.empty() ? std::string("no option") : all));
  }
  for (const OptionSpec& spec : table) {
    const auto given = texts.find(spec.name);
    if (given == texts.end() && spec.default_text.empty() && spec.type != OptionType::kText)
      throw Error(ErrorKind::kUsage, "use the options", "", "option " + spec.name + " is missing",
                  "allowed: " + allowed_text(spec));
    values_[spec.name] =
        parse_option(spec, given == texts.end() ? spec.default_text : given->second);
  }
}

const OptionValue& OptionValues::at(std::string_view name) const {
  const auto found = values_.find(name);
  GRADWIRE_ASSERT(found != values_.end());
  return found->second;
}

bool OptionValues::boolean(std::string_view name) const {
  return std::get<bool>(at(name));
}
std::int64_t OptionValues::integer(std::string_view name) const {
  return std::get<std::int64_t>(at(name));
}
double OptionValues::number(std::string_view name) const {
  return std::get<double>(at(name));
}
const std::string& OptionValues::text(std::string_view name) const {
  return std::get<std::string>(at(name));
}

}  // namespace gradwire
