#include "sim/cluster/rate_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/plain_text.h"
#include "sim/sim_error.h"

namespace gradwire::sim {
namespace {

using Named = std::pair<std::string_view, double>;

constexpr std::array kTimes = {Named{"s", 1},        Named{"sec", 1},
                               Named{"secs", 1},     Named{"second", 1},
                               Named{"seconds", 1},  Named{"ms", 1e-3},
                               Named{"msec", 1e-3},  Named{"millisecond", 1e-3},
                               Named{"us", 1e-6},    Named{"usec", 1e-6},
                               Named{"ns", 1e-9},    Named{"milliseconds", 1e-3},
                               Named{"min", 60},     Named{"microseconds", 1e-6},
                               Named{"minutes", 60}, Named{"h", 3600},
                               Named{"hours", 3600}};
/// What ends a rate's unit, the longer ones first.
constexpr std::array<std::string_view, 9> kPerSecond = {
    " per second", "_per_second", "/second", "_per_sec", "per sec", "/sec", "_per_s", "/s", "ps"};
constexpr std::array kPrefixes = {Named{"", 1},       Named{"k", 1e3},      Named{"K", 1e3},
                                  Named{"M", 1e6},    Named{"G", 1e9},      Named{"T", 1e12},
                                  Named{"Ki", 1024},  Named{"Mi", 1048576}, Named{"Gi", 1073741824},
                                  Named{"kilo", 1e3}, Named{"mega", 1e6},   Named{"giga", 1e9}};
/// Small letters as people write them where only bits can be meant.
constexpr std::array kSmallPrefixes = {Named{"m", 1e6}, Named{"g", 1e9}, Named{"t", 1e12}};

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return small;
}

std::string_view bare(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\"");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\"") - begin + 1);
}

template <std::size_t kCount>
std::optional<double> value_of(const std::array<Named, kCount>& names, std::string_view name) {
  const auto* found = std::ranges::find(names, name, &Named::first);
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> time_unit(std::string_view text) {
  return value_of(kTimes, lower(text));
}

/// Bits per second of "Mbps", "kbit/s", "MB/s", "bits_per_second", ...; nothing for what is none,
/// or could be bits or bytes ("mb/s", "MBPS").
std::optional<double> rate_unit(std::string_view text) {
  const auto* tail = std::ranges::find_if(
      kPerSecond, [&](std::string_view end) { return lower(text).ends_with(end); });
  if (tail == kPerSecond.end()) return std::nullopt;
  const bool shouted = text.ends_with("PS");
  std::string_view rest = bare(text.substr(0, text.size() - tail->size()));
  double bits = 0;
  bool spelled = true;
  for (const auto& [word, size] :
       {Named{"bits", 1}, Named{"bit", 1}, Named{"bytes", 8}, Named{"byte", 8}}) {
    if (!lower(rest).ends_with(word)) continue;
    bits = size;
    rest.remove_suffix(word.size());
    break;
  }
  if (bits == 0 && !shouted && (rest.ends_with('b') || rest.ends_with('B'))) {
    bits = rest.back() == 'b' ? 1 : 8;
    spelled = false;
    rest.remove_suffix(1);
  }
  if (bits == 0) return std::nullopt;
  auto prefix = value_of(kPrefixes, rest);
  if (!prefix && spelled) prefix = value_of(kPrefixes, lower(rest));
  if (!prefix && bits == 1 && (spelled || *tail == "ps")) prefix = value_of(kSmallPrefixes, rest);
  return prefix ? std::optional(*prefix * bits) : std::nullopt;
}

/// What of a column's name looks like its unit to `unit_of`: the name, or what follows a blank, an
/// underscore or a bracket in it.
template <typename UnitOf>
std::optional<double> unit_in(std::string_view name, UnitOf unit_of) {
  while (name.ends_with(')') || name.ends_with(']')) name.remove_suffix(1);
  for (std::size_t begin = 0; begin < name.size();) {
    if (const auto unit = unit_of(bare(name.substr(begin)))) return unit;
    const std::size_t next = name.find_first_of("_ ([:-", begin);
    if (next == std::string_view::npos) break;
    begin = next + 1;
  }
  return std::nullopt;
}

/// Which of two columns is the rate, and what a number in each stands for; 0 = its cells say.
struct Columns {
  std::size_t rate = 1;
  double seconds = 0, bits = 0;
};

class RateTable {
 public:
  explicit RateTable(const std::string& name) : name_(name) {}

  std::vector<RateSchedule::Piece> read(std::string_view text) {
    if (const auto wide = wide_encoding(text); !wide.empty())
      refuse("it is " + std::string(wide), "save it as UTF-8");
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    while (!text.empty()) {
      ++line_;
      const std::string_view line = bare(take_line(text));
      if (line.starts_with('#')) {
        take_comment(bare(line.substr(1)));
      } else if (!line.empty()) {
        take(line);
      }
    }
    check_size();
    return std::move(pieces_);
  }

 private:
  [[noreturn]] void refuse(const std::string& reason, std::string_view remedy) const {
    throw SimError("read a link's schedule", name_, reason, remedy);
  }
  [[noreturn]] void refuse_line(const std::string& reason, std::string_view remedy) const {
    refuse("line " + std::to_string(line_) + ": " + reason, remedy);
  }

  /// The two cells; nothing where there are more or fewer.
  static std::optional<std::array<std::string_view, 2>> cells_of(std::string_view line) {
    for (const std::string_view separator : {"\t", ";", ",", " "}) {
      const std::size_t at = line.find(separator);
      if (at == std::string_view::npos) continue;
      const std::array cells = {bare(line.substr(0, at)), bare(line.substr(at + 1))};
      if (cells[1].find(separator) != std::string_view::npos && separator != " ") return {};
      return cells;
    }
    return {};
  }

  static std::optional<Columns> columns_in(const std::array<std::string_view, 2>& names) {
    for (const std::size_t rate : {1u, 0u}) {
      const auto bits = unit_in(names[rate], rate_unit);
      const auto seconds = unit_in(names[1 - rate], time_unit);
      if (bits && seconds && !unit_in(names[1 - rate], rate_unit))
        return Columns{rate, *seconds, *bits};
    }
    return {};
  }

  /// A head, or a sentence that ends in the rates' unit and has no number that it could be of.
  void take_comment(std::string_view comment) {
    const auto names = cells_of(comment);
    if (!names || head_ || !pieces_.empty()) return;
    head_ = columns_in(*names);
    if (head_ || comment.find_first_of("0123456789") != std::string_view::npos) return;
    if (const auto bits = unit_in(comment, rate_unit)) head_ = Columns{1, 1, *bits};
  }

  void take(std::string_view line) {
    const auto cells = cells_of(line);
    if (!cells)
      refuse_line("\"" + std::string(line) + "\" is not a time and a rate",
                  "give two columns: time_s,rate_Mbps");
    const bool is_head = !number_in((*cells)[0]).first && !number_in((*cells)[1]).first;
    if (is_head && pieces_.empty() && !said_) return take_head(line, *cells);
    const Columns columns = head_.value_or(Columns{});
    const double begin = value((*cells)[1 - columns.rate], columns.seconds, time_unit, "s");
    const double rate = value((*cells)[columns.rate], columns.bits, rate_unit, "bit/s");
    pieces_.push_back({Seconds(begin), BitsPerSecond(rate)});
  }

  void take_head(std::string_view line, const std::array<std::string_view, 2>& names) {
    said_ = true;
    head_ = columns_in(names);
    if (!head_)
      refuse_line(
          "its head \"" + std::string(line) + "\" does not name the units of a time and a rate",
          "for example time_s,rate_Mbps (bps, kbit/s, MB/s, ...)");
  }

  /// The number that a cell begins with, and what follows it.
  static std::pair<std::optional<double>, std::string_view> number_in(std::string_view cell) {
    if (cell.starts_with('+')) cell.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc()) return {};
    return {value, bare(cell.substr(static_cast<std::size_t>(end - cell.data())))};
  }

  /// `unit`: of the column; 0 = the cell's own, or 1, which is called `base`.
  template <typename UnitOf>
  double value(std::string_view cell, double unit, UnitOf unit_of, std::string_view base) {
    const auto [number, rest] = number_in(cell);
    const auto own = rest.empty() ? std::nullopt : unit_of(rest);
    if (!number || (!rest.empty() && (!own || unit != 0)))
      refuse_line(std::string("\"").append(cell) + "\" is no number" + (unit == 0 ? " of " : "") +
                      std::string(unit == 0 ? base : std::string_view()),
                  rest.starts_with(',') ? "write decimals with a point"
                                        : "give a time and a rate: 0.5,24.5Mbps");
    has_units_ = has_units_ || own || unit != 0;
    return *number * (unit != 0 ? unit : own.value_or(1));
  }

  /// Hardly a link carries less than 100 kbit/s: what has no unit was meant in another.
  void check_size() const {
    const auto largest = std::ranges::max_element(
        pieces_, {}, [](const RateSchedule::Piece& piece) { return piece.rate.value(); });
    if (has_units_ || largest == pieces_.end() || !(largest->rate.value() > 0) ||
        largest->rate.value() >= 1e5)
      return;
    refuse("its rates are below 100 kbit/s: a column without a unit is in bit/s",
           "name the unit in a first line: time_s,rate_Mbps");
  }

  const std::string& name_;
  std::size_t line_ = 0;
  bool said_ = false;       ///< there was a head
  bool has_units_ = false;  ///< of some rate or time
  std::optional<Columns> head_;
  std::vector<RateSchedule::Piece> pieces_;
};

}  // namespace

std::vector<RateSchedule::Piece> read_rate_table(const std::string& name, std::string_view text) {
  return RateTable(name).read(text);
}

}  // namespace gradwire::sim
