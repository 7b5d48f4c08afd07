#pragma once
#include <string>

/// Test cases that need what a machine may lack (a GPU, ns-3, namespaces, a browser, data).
///
/// Such a case says so by skip(), never by a silent return: the program then ends with code 77,
/// which CTest counts as "Skipped". It carries a tag such as "[needs-packet]", which is listed
/// under NEEDS of its gradwire_test: CTest runs the cases of each need as a test of their own, so
/// that they do not hide those that ran. What checks nothing and does not skip fails
/// (tests/catch_main.cc).
namespace gradwire::testing {

/// Ends the test case that runs (on its own thread) as skipped, and prints the reason.
[[noreturn]] void skip(const std::string& reason);

}  // namespace gradwire::testing
