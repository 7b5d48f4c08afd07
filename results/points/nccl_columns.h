#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/points/log_lines.h"
#include "results/points/nccl_log.h"

namespace gradwire::results {

/// What stands where a row's reduction would: no such column, nothing, "none", or an operation.
enum class NcclReduction : char { kNoColumn = 'a', kEmpty = 'e', kNone = 'n', kOperation = 'o' };

/// A row of nccl-tests, and what it tells of the test that printed it.
struct NcclLine {
  NcclRow row;
  /// Ranks whose buffers the size is of: 1 or all of them; 0 = not known.
  double parts = 0;
  NcclReduction reduction = NcclReduction::kNoColumn;
  bool rooted = false;  ///< it has a root, from 0 on
};

/// Where the figures stand in nccl-tests' rows; any label may stand before a line.
class NcclColumns {
 public:
  static bool is_header(const LogLine& line);
  /// Whether two counts and the name of a type of data follow one another in it.
  static bool is_row(const LogLine& line);

  NcclColumns() = default;
  /// Throws Error: CPU times, a time without its bandwidths.
  NcclColumns(const LogLine& header, const std::string& file);

  /// Whether it is a row of these columns, whole or cut off.
  bool has(const LogLine& line) const;
  /// Of a row; without a header its columns are those that its words can be. Throws Error.
  NcclLine read(const LogLine& line, const std::string& file) const;

 private:
  struct Group {
    std::size_t time = 0, algbw = 0, busbw = 0;
    std::optional<std::size_t> wrong;
  };
  using Words = std::vector<std::string_view>;

  void name(const Words& words);
  Words words_of(const LogLine& line, const std::string& file) const;
  static NcclColumns guessed(const Words& words);
  static NcclTiming timing(const Words& words, const Group& group, const std::string& file,
                           int line);

  std::size_t label_ = 0;  ///< words before a row's first
  std::size_t count_ = 0;  ///< words of a row; 0 = there was no header
  std::size_t count_column_ = 0;
  std::optional<std::size_t> type_, reduction_, root_;
  std::vector<Group> groups_;
};

}  // namespace gradwire::results
