#include <catch2/catch.hpp>
#include <set>

#include "base/file_descriptor.h"
#include "results/scalability/page.h"
#include "tests/browser.h"
#include "tests/results/html_check.h"
#include "tests/results/scalability/scale_runs.h"

/// The report in a browser without a window and without a network.
using namespace gradwire;
using namespace gradwire::results;

namespace {

/// Opens `page` with `action`; false where the browser did not end well.
bool open_page(const TemporaryFolder& folder, const std::string& page, const std::string& action,
               const std::string& log) {
  return testing::open_in_browser(page, folder.file("profile"),
                                  {"--log-net-log=" + log, action, "--window-size=1280,6000"});
}

/// What the browser asks its maker for; libraries and fonts that pages take from there are none.
bool is_browsers(const std::string& url) {
  const std::size_t begin = url.find("//") + 2;
  const std::string host = url.substr(begin, url.find('/', begin) - begin);
  for (const char* page : {"fonts.", "ajax.", "www."})
    if (host.starts_with(page)) return false;
  return host.ends_with(".google.com") || host.ends_with(".googleapis.com") ||
         host.ends_with(".gvt1.com");
}

/// Addresses that the page (not the browser for itself) asked for, but for the file itself.
std::set<std::string> fetched(const std::string& log, const std::string& page) {
  std::set<std::string> list;
  const std::string text = read_file(log);
  for (std::size_t at = text.find("\"url\":\""); at != std::string::npos;
       at = text.find("\"url\":\"", at)) {
    at += 7;
    const std::string url = text.substr(at, text.find('"', at) - at);
    const bool own = url == "file://" + page || url.starts_with("chrome") ||
                     url.starts_with("data:") || is_browsers(url);
    if (!own) list.insert(url);
  }
  return list;
}

/// Width and height of a PNG's header: big-endian at bytes 16 and 20.
std::pair<int, int> png_size(const std::string& png) {
  const auto number = [&](std::size_t at) {
    int value = 0;
    for (std::size_t i = 0; i < 4; ++i)
      value = value * 256 + static_cast<unsigned char>(png[at + i]);
    return value;
  };
  return {number(16), number(20)};
}

}  // namespace

TEST_CASE("the report opens in a browser without a network, and prints",
          "[browser][needs-chromium]") {
  testing::browser();
  const ScaleStore runs(three_methods());
  ScalabilityOptions options;
  options.command = "gradwire report --scalability";
  const std::string out = runs.folder.file("out"), page = out + "/report.html",
                    log = runs.folder.file("net.json"), png = runs.folder.file("page.png"),
                    pdf = runs.folder.file("page.pdf");
  write_scalability(scalability_of(*runs.store, runs.ids, options), out);

  REQUIRE(open_page(runs.folder, page, "--screenshot=" + png, log));
  CHECK(fetched(log, page) == std::set<std::string>{});
  const std::string picture = read_file(png);
  CHECK(png_size(picture) == std::pair(1280, 6000));
  CHECK(picture.size() > 200'000);  // a blank page of that size takes about 20 kB

  REQUIRE(open_page(runs.folder, page, "--print-to-pdf=" + pdf, log));
  const std::string paper = read_file(pdf);
  const std::size_t pages = count(paper, "/Type /Page\n") + count(paper, "/Type /Page ");
  CHECK(pages >= 3);
  CHECK(pages <= 12);
}

TEST_CASE("negative control: a page that fetches something is found out",
          "[browser][needs-chromium]") {
  testing::browser();
  const TemporaryFolder folder;
  const std::string page = folder.file("bad.html"), log = folder.file("net.json");
  write_file(page, "<html><body><img src=\"http://pictures.invalid/x.png\"></body></html>");
  REQUIRE(open_page(folder, page, "--screenshot=" + folder.file("x.png"), log));
  CHECK(fetched(log, page) == std::set<std::string>{"http://pictures.invalid/x.png"});
}
