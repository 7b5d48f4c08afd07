#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/child_process.h"
#include "tests/skip.h"

/// A browser without a window and without a network.
namespace gradwire::testing {

/// Skips the case, whose tag is [needs-chromium], where no such browser is installed.
inline std::string browser() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
    for (const char* folder : {"/usr/bin/", "/usr/local/bin/", "/opt/google/chrome/"})
      if (std::filesystem::exists(std::string(folder) + name)) return std::string(folder) + name;
  skip("no chromium is installed");
}

/// Opens the file `page` with further `options`; what it says goes to the file `out`. `profile`: a
/// folder of its own. False where it did not end well.
inline bool open_in_browser(const std::string& page, const std::string& profile,
                            const std::vector<std::string>& options,
                            const std::string& out = "/dev/null") {
  std::vector<std::string> argv = {"sh",
                                   "-c",
                                   "out=$1; shift; exec \"$@\" >\"$out\" 2>/dev/null",
                                   "sh",
                                   out,
                                   "timeout",
                                   "100",
                                   browser(),
                                   "--headless",
                                   "--no-sandbox",
                                   "--disable-gpu",
                                   "--disable-dev-shm-usage",
                                   "--disable-background-networking",
                                   "--disable-component-update",
                                   "--disable-sync",
                                   "--no-first-run",
                                   "--disable-default-apps",
                                   "--disable-extensions",
                                   "--host-resolver-rules=MAP * ~NOTFOUND",
                                   "--user-data-dir=" + profile};
  argv.insert(argv.end(), options.begin(), options.end());
  argv.push_back("file://" + page);
  return ChildProcess(argv, {}).wait() == 0;
}

}  // namespace gradwire::testing
