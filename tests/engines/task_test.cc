#include "engines/task.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/file_descriptor.h"
#include "base/temporary_file.h"
#include "engines/collector.h"
#include "engines/report_lines.h"
#include "engines/settings.h"
#include "engines/slurm/batch_script.h"
#include "engines/work_list.h"
#include "tests/engines/sweep_parts.h"

using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;

TEST_CASE("tasks bring their shares of a sweep, each run once", "[unit]") {
  const TemporaryFolder folder;
  const auto file = eight_runs();
  std::string work;
  for (std::size_t place = 0; place < file.runs.size(); ++place)
    work += engines::line_of(place, file.runs[place], false, "", {}) + "\n";
  write_file(folder.file("work"), work);
  engines::Settings settings;
  settings.runs = 8;
  write_file(folder.file("settings"), engines::text_of(settings));
  for (const int index : {2, 0, 1}) engines::run_task(folder.path(), index, 3);

  const auto store = results::Store::open(folder.file("t.db"), results::Store::Mode::kReadWrite);
  runner::RunObserver quiet;
  engines::Collector collector(file, false, *store, quiet);
  std::vector<std::size_t> of_second;
  for (const std::string& report : engines::report_files(folder.path())) {
    const auto line = nlohmann::json::parse(read_file(report));
    REQUIRE(line.at("type") == "part");
    const engines::PartReport part = engines::part_of(line);
    for (const auto& run : part.runs)
      if (engines::rank_of(line) == 1) of_second.push_back(run.place);
    collector.take(part);
  }
  CHECK(of_second == std::vector<std::size_t>{1, 4, 7});
  CHECK(engines::given_files(folder.path()).empty());  // nothing is under way any more
  CHECK(collector.missing().empty());
  const auto runs = store->runs();
  REQUIRE(runs.size() == 8);
  for (std::size_t place = 0; place < 8; ++place) {
    CHECK(runs[place].header.scenario_hash == file.runs[place].hash);
    CHECK(runs[place].header.rank == static_cast<int>(place % 3));
    CHECK(runs[place].status == results::RunStatus::kFinished);
  }
}

TEST_CASE("a task that cannot go on says why", "[unit]") {
  const TemporaryFolder folder;
  write_file(folder.file("settings"), engines::text_of({}));
  write_file(folder.file("work"), "0 0 no scenario\n");
  CHECK_THROWS_AS(engines::run_task(folder.path(), 0, 1), Error);
  const auto reports = engines::report_files(folder.path());
  REQUIRE(reports.size() == 1);
  const auto line = nlohmann::json::parse(read_file(reports[0]));
  CHECK(line.at("type") == "error");
  CHECK_THROWS_WITH(std::rethrow_exception(engines::error_of(line)), Contains("no JSON object"));
}

TEST_CASE("a batch script keeps names that mean something to a shell as they are", "[unit]") {
  CHECK(engines::quoted("it's $HOME") == "'it'\\''s $HOME'");
  engines::BatchJob job;
  job.sweep = "a\n#SBATCH --evil `rm`";
  job.program = "/opt/o'hara/gradwire";
  job.folder = "/data/my runs.db.parts";
  job.tasks = 7;
  job.threads = 3;
  const std::string script = engines::batch_script(job);
  CHECK_THAT(script, Contains("#SBATCH --job-name=gradwire-a__SBATCH_--evil__rm_\n"));
  CHECK_THAT(script, Contains("\n#SBATCH --array=0-6\n") && Contains("--cpus-per-task=3\n"));
  CHECK_THAT(script, Contains("exec '/opt/o'\\''hara/gradwire' task '/data/my runs.db.parts' "
                              "--index \"$SLURM_ARRAY_TASK_ID\" --of 7\n"));
}
