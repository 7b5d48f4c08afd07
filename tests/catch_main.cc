#define CATCH_CONFIG_RUNNER
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>
#include <iostream>

#include "tests/skip.h"

namespace {

constexpr int kSkippedExitCode = 77;  // SKIP_RETURN_CODE in cmake/GradwireTargets.cmake

std::string running_case;
int skipped_cases = 0;

struct RunningCase : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    TestEventListenerBase::testCaseStarting(info);
    running_case = info.name;
  }
};

Catch::WarnAbout::What warnings() {
  // A case without any check fails, and so does a filter that no case meets.
  return static_cast<Catch::WarnAbout::What>(Catch::WarnAbout::NoAssertions |
                                             Catch::WarnAbout::NoTests);
}

}  // namespace

CATCH_REGISTER_LISTENER(RunningCase)

namespace gradwire::testing {

void skip(const std::string& reason) {
  ++skipped_cases;
  std::cout << "skipped: " << running_case << ": " << reason << std::endl;
  SUCCEED("skipped");                   // counts as a check: a case without one fails
  throw Catch::TestFailureException();  // ends the case; it fails only by a check that failed
}

}  // namespace gradwire::testing

int main(int count, char** arguments) {
  Catch::Session session;
  if (const int code = session.applyCommandLine(count, arguments); code != 0) return code;
  session.configData().warnings = warnings();
  const int code = session.run();
  if (skipped_cases > 0) std::cout << skipped_cases << " of the test cases were skipped\n";
  return code == 0 && skipped_cases > 0 ? kSkippedExitCode : code;
}
