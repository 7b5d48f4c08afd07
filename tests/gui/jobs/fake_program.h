#pragma once
#include <QFile>
#include <QTemporaryDir>
#include <catch2/catch.hpp>

#include "gui/main_window.h"
#include "gui/samples/sample_runs.h"

namespace gradwire::testing {

/// A shell script standing in for the `gradwire` program, and what a window that uses it opens.
class FakeProgram {
 public:
  explicit FakeProgram(const char* body) {
    QFile script(folder_.filePath("gradwire"));
    REQUIRE(script.open(QIODevice::WriteOnly));
    script.write("#!/bin/sh\n");
    script.write(body);
    script.close();
    script.setPermissions(QFile::ReadOwner | QFile::ExeOwner);
    qputenv("GRADWIRE_PROGRAM", script.fileName().toUtf8());
    QFile scenario(path("scenario.json"));
    REQUIRE(scenario.open(QIODevice::WriteOnly));
    scenario.write("{}");
  }
  ~FakeProgram() { qunsetenv("GRADWIRE_PROGRAM"); }
  QString path(const char* name) const { return folder_.filePath(name); }
  gui::WindowOptions options() const { return {path("runs.db"), path("scenario.json"), false}; }

 private:
  QTemporaryDir folder_;
};

inline std::unique_ptr<results::Store> open_fake(const std::string&) {
  return gui::samples::make_fake_store(20);
}

inline std::unique_ptr<results::Store> open_to_read(const std::string& path) {
  return results::Store::open(path, results::Store::Mode::kReadOnly);
}

}  // namespace gradwire::testing
