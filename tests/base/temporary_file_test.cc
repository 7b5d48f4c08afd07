#include "base/temporary_file.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "base/file_descriptor.h"

using namespace gradwire;

TEST_CASE("a temporary file holds its contents under its suffix, and goes away", "[unit]") {
  std::string path;
  {
    const TemporaryFile file("contents", ".json");
    path = file.path();
    CHECK(path.ends_with(".json"));
    CHECK(read_file(path) == "contents");
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a temporary folder is one of its own, and goes away with what is in it", "[unit]") {
  std::string path;
  {
    const TemporaryFolder folder, other;
    path = folder.path();
    CHECK(path != other.path());
    CHECK(folder.file("deep") == path + "/deep");
    std::filesystem::create_directory(folder.file("deep"));
    write_file(folder.file("deep/file"), "contents");
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a temporary folder that is none is named with what to do", "[unit]") {
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before ? before : "";
  ::setenv("TMPDIR", "/nowhere", 1);
  CHECK_THROWS_WITH(TemporaryFolder(), Catch::Contains("/nowhere") && Catch::Contains("TMPDIR"));
  before ? ::setenv("TMPDIR", kept.c_str(), 1) : ::unsetenv("TMPDIR");
  CHECK_NOTHROW(TemporaryFolder());
}
