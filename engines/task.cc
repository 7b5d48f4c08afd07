#include "engines/task.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "engines/dispatcher.h"
#include "engines/part_runner.h"
#include "engines/report_lines.h"
#include "engines/work_list.h"
#include "runner/interrupt.h"

namespace gradwire::engines {
namespace {

namespace fs = std::filesystem;

/// Files on a network's file system are dear, and nobody waits for them.
constexpr double kBatch_s = 5;

std::vector<std::string> share_of(const std::string& folder, int index, int of) {
  const std::vector<std::string> all = lines_of(read_file(folder + "/work"));
  std::vector<std::string> share;
  for (std::size_t i = static_cast<std::size_t>(index); i < all.size();
       i += static_cast<std::size_t>(of))
    share.push_back(all[i]);
  return share;
}

std::vector<std::size_t> given_places(const std::vector<std::string>& lines) {
  std::vector<std::size_t> places;
  for (const std::string& line : lines) places.push_back(label_of(line).place);
  return places;
}

/// Tells of batches by files.
class TaskFiles {
 public:
  TaskFiles(const std::string& folder, int round, int index)
      : given_(folder + "/given-" + std::to_string(index)),
        report_(folder + "/report-" + std::to_string(round) + "-" + std::to_string(index) + "-"),
        index_(index) {}

  void give(const std::vector<std::string>& lines) {
    write_file(given_, given_line(index_, given_places(lines)));
  }
  void report(const std::string& line) {
    write_file(report_ + std::to_string(reports_++), line);
    std::error_code ignored;
    fs::remove(given_, ignored);
  }

 private:
  std::string given_, report_;
  int index_;
  int reports_ = 0;
};

std::vector<std::string> files_that_begin(const std::string& folder, std::string_view begin) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(begin) && name.find(".tmp") == std::string::npos)
      files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

void run_task(const std::string& folder, int index, int of) {
  const runner::InterruptGuard guard;
  const Settings settings = settings_from(read_file(folder + "/settings"));
  TaskFiles files(folder, settings.round, index);
  runner::RunObserver quiet;
  PartRunner runner(settings, 1, folder,
                    std::to_string(settings.round) + "-" + std::to_string(index), index, quiet);
  Dispatcher dispatcher(share_of(folder, index, of), 1, kBatch_s);
  try {
    for (auto lines = dispatcher.next(); !lines.empty() && runner::interrupted_by() == 0;
         lines = dispatcher.next()) {
      files.give(lines);
      const PartReport report = runner.run(lines);
      files.report(part_line(report, index));
      dispatcher.note(report.runs.size(), report.seconds);
    }
  } catch (const std::exception& error) {
    files.report(error_line(error));
    throw;
  }
}

std::vector<std::string> report_files(const std::string& folder) {
  return files_that_begin(folder, "report-");
}

std::vector<std::string> given_files(const std::string& folder) {
  return files_that_begin(folder, "given-");
}

}  // namespace gradwire::engines
