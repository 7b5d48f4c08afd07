#include "base/folder.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/temporary_file.h"

using namespace gradwire;

TEST_CASE("Folders are made with those above them, and again without harm") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/a/b";
  make_folder(path);
  make_folder(path);
  CHECK(std::filesystem::is_directory(path));
}

TEST_CASE("A folder below a file cannot be, and the error says what to do") {
  const TemporaryFolder folder;
  write_file(folder.path() + "/file", "x");
  try {
    make_folder(folder.path() + "/file/below", "name another with --out");
    FAIL("made");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("/file/below") != std::string::npos);
    CHECK(std::string(error.what()).find("--out") != std::string::npos);
  }
}
