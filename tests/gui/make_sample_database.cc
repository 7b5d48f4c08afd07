#include <cstdlib>

#include "gui/samples/sample_runs.h"

/// make_sample_database FILE [RUNS]: for pictures of the desktop program and for trying it.
int main(int argc, char** argv) {
  if (argc < 2) return 2;
  gradwire::gui::samples::write_sample_database(argv[1], argc > 2 ? std::atoi(argv[2]) : 360);
  return 0;
}
