#include <catch2/catch.hpp>
#include <cstring>

#include "base/file_descriptor.h"
#include "base/temporary_file.h"
#include "tests/cli/program.h"

using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;

namespace {

/// The first block of docs/bring-your-own.md that is fenced with ````language` and contains `text`.
std::string block_of_page(const std::string& language, const std::string& text) {
  const std::string page = read_file(source_path("docs/bring-your-own.md"));
  const std::string fence = "```" + language + "\n";
  for (std::size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at + 1)) {
    const std::size_t begin = at + fence.size();
    const std::string block = page.substr(begin, page.find("```", begin) - begin);
    if (block.find(text) != std::string::npos) return block;
  }
  FAIL("the page has no " << language << " block with " << text);
  return {};
}

Result train(const TemporaryFolder& folder, const std::string& scenario) {
  return run_program({"run", folder.file(scenario), "--no-report", "--db", folder.file("runs.db")});
}

}  // namespace

TEST_CASE("the page's table is trained on, and a mistake in it is named", "[needs-torch]") {
  require_training();
  const TemporaryFolder folder;
  const std::string table = block_of_page("csv", "petal");
  write_file(folder.file("flowers.csv"), table);
  write_file(folder.file("flowers.json"), block_of_page("json", "flowers.csv"));
  const Result result = train(folder, "flowers.json");
  INFO(result.err << result.out);
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out + result.err, Contains("learning hash"));
  // What the page shows for a text among the numbers of line 4.
  std::string damaged = table;
  damaged.replace(damaged.find("4.9,1.3"), 7, "4.9,?");
  write_file(folder.file("flowers.csv"), damaged);
  const Result refused = train(folder, "flowers.json");
  CHECK(refused.exit_code != 0);
  std::string shown = block_of_page("", "cannot read CSV file");
  shown.replace(shown.find("flowers.csv"), std::strlen("flowers.csv"), folder.file("flowers.csv"));
  shown.pop_back();  // the line's end
  CHECK_THAT(refused.err + refused.out, Contains(shown));
  // A file that is not there is found before anything runs: exit code 3.
  write_file(folder.file("other.json"),
             R"({"schema_version": 1, "name": "o", "workload": {"model": "mlp",
                 "data": {"set": "csv", "path": "no-such.csv"}}})");
  const Result missing = train(folder, "other.json");
  CHECK(missing.exit_code == 3);
  CHECK_THAT(missing.err, Contains("/workload/data/path: there is no file or folder"));
}

TEST_CASE("the page's raw file is trained on", "[needs-torch]") {
  require_training();
  const TemporaryFolder folder;
  // What the page's Python writes.
  const float values[] = {0.5, 1.5, -0.5, 2.5, 0.25, 3.5};
  std::string bytes(sizeof values, '\0');
  std::memcpy(bytes.data(), values, sizeof values);
  write_file(folder.file("points.raw"),
             "gradwire-data 1\nsamples 3\nshape 2\nvalues f32\nclasses 2\n\n" + bytes +
                 std::string("\0\1\0", 3));
  write_file(folder.file("points.json"),
             R"({"schema_version": 1, "name": "points", "workload": {"model": "logistic",)" +
                 block_of_page("json", "points.raw") +
                 R"(, "steps": 3, "batch_per_worker": 1}, "cluster": {"workers": 2}})");
  const Result result = train(folder, "points.json");
  INFO(result.err << result.out);
  CHECK(result.exit_code == 0);
}

TEST_CASE("sets that ship or are generated need no file", "[needs-torch]") {
  require_training();
  const TemporaryFolder folder;
  for (const std::string workload :
       {R"("model": "lenet5", "data": {"set": "mnist"})",
        R"("model": "char-lstm", "hidden": [8], "data": {"set": "text"})",
        R"("model": "logistic", "bias": false, "data": {"set": "sparse-logit", "samples": 100})"}) {
    write_file(folder.file("s.json"),
               R"({"schema_version": 1, "name": "s", "cluster": {"workers": 2}, "workload": {)" +
                   workload + R"(, "steps": 1, "batch_per_worker": 2}})");
    const Result result = train(folder, "s.json");
    INFO(workload << result.err << result.out);
    CHECK(result.exit_code == 0);
  }
}
