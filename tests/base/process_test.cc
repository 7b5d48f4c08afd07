#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/child_process.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/temporary_file.h"

using namespace gradwire;

TEST_CASE("a child's output and exit code come back", "[unit]") {
  ChildProcess child({"sh", "-c", "echo out; exit 3"}, {.pipe_stdout = true});
  std::byte buffer[16];
  CHECK(child.stdout_pipe().read_some(buffer, "child") == 4);
  CHECK(child.wait() == 3);
}

TEST_CASE("a missing program is an error, not a child that fails later", "[unit]") {
  CHECK_THROWS_WITH(ChildProcess({"gradwire-no-such-program"}, {}),
                    Catch::Contains("No such file"));
}

TEST_CASE("destruction kills a child that still runs", "[unit]") {
  pid_t pid = 0;
  {
    ChildProcess child({"sleep", "1000"}, {});
    pid = child.pid();
    CHECK_FALSE(child.poll().has_value());
  }
  CHECK(::kill(pid, 0) == -1);
}

TEST_CASE("a child stays in its parent's process group, or leads one of its own", "[unit]") {
  const ChildProcess beside({"sleep", "1000"}, {});
  CHECK(::getpgid(beside.pid()) == ::getpgrp());
  const ChildProcess apart({"sleep", "1000"}, {.own_group = true});
  CHECK(::getpgid(apart.pid()) == apart.pid());
}

TEST_CASE("files are replaced whole, and errors name path and reason", "[unit]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("file");
  write_file(path, "first");
  write_file(path, "second");
  CHECK(read_file(path) == "second");
  CHECK_THROWS_WITH(read_file(path + "x"),
                    Catch::Contains(path + "x") && Catch::Contains("No such"));
}

TEST_CASE("the hash depends on order and on length", "[unit]") {
  Hasher a, b, c;
  a.add_text("ab"), a.add_text("c");
  b.add_text("a"), b.add_text("bc");
  c.add_text("ab"), c.add_text("c");
  CHECK(a.value() != b.value());
  CHECK(a.hex() == c.hex());
  CHECK(a.hex().size() == 16);
}

TEST_CASE("a program is found in PATH's folders, then in others", "[unit]") {
  const TemporaryFolder folder;
  const std::string tool = folder.file("some-tool"), text = folder.file("no-tool");
  write_file(tool, "#!/bin/sh\n");
  std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
  write_file(text, "");
  CHECK(find_in_path("some-tool").empty());
  CHECK(find_in_path("some-tool", "/no/such::" + folder.path()) == tool);
  CHECK(find_in_path("no-tool", folder.path()).empty());  // not to be executed
  CHECK_FALSE(find_in_path("sh").empty());
}
