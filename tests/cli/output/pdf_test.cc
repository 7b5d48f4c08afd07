#include <catch2/catch.hpp>
#include <filesystem>

#include "base/file_descriptor.h"
#include "tests/cli/program.h"
#include "tests/skip.h"

using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

/// A folder with a stored run, and with a browser if it is given as a script.
struct Work {
  explicit Work(const std::string& browser = "") {
    write_file(folder.file("ring.json"), R"({"schema_version": 1, "name": "ring",
      "workload": {"collective": "ring-all-reduce", "bytes": "1MB"}, "cluster": {"workers": 4},
      "network": {"link": {"bandwidth": "1Gbps", "delay": "50us"}}, "executor": "model"})");
    const Result run =
        run_program({"run", folder.file("ring.json"), "--db", folder.file("g.db"), "--no-report"});
    INFO(run.err);
    REQUIRE(run.exit_code == 0);
    fs::create_directory(folder.file("bin"));
    if (browser.empty()) return;
    write_file(folder.file("bin/chromium"), "#!/bin/sh\n" + browser);
    fs::permissions(folder.file("bin/chromium"), fs::perms::owner_all);
  }
  /// With no other program than the browser on PATH.
  Result report() const {
    return run_program({"report", "--pdf", "--db", folder.file("g.db"), "-o", page()},
                       "PATH='" + folder.file("bin") + "'; export PATH; exec \"$@\"");
  }
  std::string page() const { return folder.file("report.html"); }
  std::string pdf() const { return folder.file("report.pdf"); }
  TemporaryFolder folder;
};

}  // namespace

TEST_CASE("report --pdf: the page is printed beside itself") {
  const Work work(R"(for word; do case $word in
    --print-to-pdf=*) echo "%PDF-1.4 $*" >"${word#--print-to-pdf=}" ;; esac; done)");
  const Result result = work.report();
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK_THAT(result.err, Contains("printed: " + work.pdf()));
  CHECK_THAT(read_file(work.pdf()), Contains("file://" + work.page()));
}

TEST_CASE("report --pdf: without a browser the page stays, and what to do is said") {
  const Work work;
  const Result result = work.report();
  CHECK(result.exit_code == 5);
  CHECK_THAT(result.err, Contains("no Chromium") && Contains("print " + work.page()));
  CHECK(fs::exists(work.page()));
  CHECK_FALSE(fs::exists(work.pdf()));
}

TEST_CASE("report --pdf: a browser that prints nothing is no success") {
  const Work work("echo 'cannot' >&2; exit 0");
  const Result result = work.report();
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.err, Contains("printed nothing"));
  CHECK_FALSE(fs::exists(work.pdf()));
}

TEST_CASE("report --pdf: Chromium prints it", "[needs-chromium]") {
  if (!fs::exists("/usr/bin/chromium")) skip("no chromium is installed");
  const Work work;
  const Result result =
      run_program({"report", "--pdf", "--db", work.folder.file("g.db"), "-o", work.page()});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(read_file(work.pdf()).substr(0, 5) == "%PDF-");
  CHECK(fs::file_size(work.pdf()) > 10'000);
}
