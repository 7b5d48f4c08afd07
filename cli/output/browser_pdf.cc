#include "cli/output/browser_pdf.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/child_process.h"
#include "base/error.h"
#include "base/temporary_file.h"

namespace gradwire::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kPatience = 60s;

/// The first browser on PATH that prints; empty: none.
std::string browser() {
  for (const char* name :
       {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge"})
    if (std::string program = find_in_path(name); !program.empty()) return program;
  return {};
}

bool is_pdf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char head[5] = {};
  file.read(head, sizeof head);
  return std::string(head, sizeof head) == "%PDF-";
}

}  // namespace

void write_pdf(const std::string& page, const std::string& pdf) {
  const std::string program = browser();
  if (program.empty())
    throw Error(ErrorKind::kCapability, "write", pdf,
                "there is no Chromium, Chrome or Edge on PATH to print it",
                "install one, or print " + page + " from a browser");
  const TemporaryFolder folder;
  const std::string printed = folder.file("page.pdf");
  std::vector<std::string> argv = {program,
                                   "--headless",
                                   "--disable-gpu",
                                   "--disable-dev-shm-usage",
                                   "--disable-background-networking",
                                   "--no-first-run",
                                   "--host-resolver-rules=MAP * ~NOTFOUND",
                                   "--user-data-dir=" + folder.file("profile"),
                                   "--no-pdf-header-footer",
                                   "--print-to-pdf=" + printed,
                                   "file://" + fs::absolute(page).string()};
  if (::geteuid() == 0) argv.insert(argv.begin() + 1, "--no-sandbox");  // it refuses to run else
  // What it says of its own affairs, a few lines, stays in the pipes.
  ChildProcess child(argv, {.pipe_stdout = true, .pipe_stderr = true, .own_group = true});
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!child.poll() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(50ms);
  child.kill_and_reap();
  if (!is_pdf(printed))
    throw Error(ErrorKind::kFailure, "write", pdf, program + " printed nothing",
                "print " + page + " from a browser");
  std::error_code error;
  fs::copy_file(printed, pdf, fs::copy_options::overwrite_existing, error);
  if (error) throw Error(ErrorKind::kFailure, "write", pdf, error.message());
}

}  // namespace gradwire::cli
