#pragma once
#include <map>
#include <string>
#include <vector>

#include "bench/measured/judged.h"
#include "bench/measured/table.h"

/// Rows of tables with their forms.
namespace gradwire::bench {

struct MeasuredForms {
  std::vector<FormRow> steps, collectives;
  std::map<std::string, int> without_form;  ///< reason -> rows
};

/// "PaddlePaddle/FleetX:docs/a.md" -> "paddlepaddle-fleetx".
std::string short_source(const std::string& source);
/// Source, workload and device (and method): "via-research-vtrain.gpt.a100".
std::string group_of(const MeasuredStep& step);
/// The same, and whether it is between nodes.
std::string group_of(const MeasuredCollective& one);

MeasuredForms forms_of(const MeasuredTables& tables);
/// The steps of the tables that ship and have a form.
std::vector<FormRow> shipped_steps();

}  // namespace gradwire::bench
