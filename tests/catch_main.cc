#define CATCH_CONFIG_RUNNER
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>
#include <iostream>

#include "tests/skip.h"

namespace {

constexpr int kFailedExitCode = 1;
constexpr int kSkippedExitCode = 77;  // SKIP_RETURN_CODE in cmake/GradwireTargets.cmake

int skipped_cases = 0, empty_cases = 0;

/// Knows which test case runs, and counts those that neither check anything nor skip.
struct CaseListener : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    TestEventListenerBase::testCaseStarting(info);
    name = info.name;
    skipped = false;
  }
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    if (stats.totals.assertions.total() == 0 && !skipped) {
      ++empty_cases;
      std::cout << "FAILED: " << name << ": it checks nothing" << std::endl;
    }
    TestEventListenerBase::testCaseEnded(stats);
  }

  static inline std::string name;
  static inline bool skipped = false;
};

}  // namespace

CATCH_REGISTER_LISTENER(CaseListener)

namespace gradwire::testing {

void skip(const std::string& reason) {
  if (!CaseListener::skipped) ++skipped_cases;
  CaseListener::skipped = true;
  std::cout << "skipped: " << CaseListener::name << ": " << reason << std::endl;
  throw Catch::TestFailureException();  // ends the case, which fails only by checks that failed
}

}  // namespace gradwire::testing

int main(int count, char** arguments) {
  Catch::Session session;
  if (const int code = session.applyCommandLine(count, arguments); code != 0) return code;
  session.configData().warnings = Catch::WarnAbout::NoTests;  // a filter that no case meets fails
  if (const int code = session.run(); code != 0) return code;
  if (empty_cases > 0) return kFailedExitCode;
  if (skipped_cases == 0) return 0;
  std::cout << skipped_cases << " of the test cases were skipped\n";
  return kSkippedExitCode;
}
