#pragma once
#include <CLI/CLI.hpp>

#include "results/advice/accuracy_evidence.h"

/// What commands that recommend a method know of its accuracy.
namespace gradwire::cli {

struct AccuracyArguments {
  double tolerance_points = 100 * results::kUsualTolerance;
};

/// --tolerance.
CLI::Option* add_tolerance_option(CLI::App& command, AccuracyArguments& arguments);

/// The tolerance and the shipped publications; which runs count is for the caller to add.
results::AccuracyKnowledge accuracy_knowledge(const AccuracyArguments& arguments);

}  // namespace gradwire::cli
