#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Lines of a table as people write it.
namespace gradwire::trainers {

/// A whole text as a number.
std::optional<double> number_of(std::string_view text);
/// "1,5".
bool has_decimal_comma(std::string text);

/// One file, line by line.
class CsvReader {
 public:
  /// `separator`: ' ' any number of blanks and tabs; 0 = what cuts the first two lines alike.
  /// Throws TrainerError for a text that is not UTF-8 but UTF-16.
  CsvReader(const std::string& path, char separator);

  /// The next line that is not blank, cut into fields; false at the end. Throws TrainerError for a
  /// quotation mark that is not closed, and for LIBSVM's format.
  bool next(std::vector<std::string>& fields);

  [[noreturn]] void fail(const std::string& reason, const std::string& remedy) const;

 private:
  std::string path_;
  char separator_;
  std::vector<std::uint8_t> bytes_;
  std::string_view text_;
  int line_ = 0;
};

}  // namespace gradwire::trainers
