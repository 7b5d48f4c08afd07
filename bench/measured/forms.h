#pragma once
#include <map>
#include <string>
#include <vector>

#include "bench/measured/judged.h"
#include "bench/measured/table.h"

/// Rows of tables with their forms.
namespace gradwire::bench {

/// Rows that cannot be predicted, for one reason.
struct WithoutForm {
  std::string group, reason;
  int rows = 0;
  std::string first;  ///< place of the first
};

struct MeasuredForms {
  std::vector<FormRow> steps, collectives;
  std::map<std::string, WithoutForm> without_form;  ///< by group and reason
};

/// "PaddlePaddle/FleetX:docs/a.md" -> "paddlepaddle-fleetx".
std::string short_source(const std::string& source);
/// Source, workload and device (and method): "via-research-vtrain.gpt.a100".
std::string group_of(const MeasuredStep& step);
/// The same, and whether it is between nodes.
std::string group_of(const MeasuredCollective& one);

/// Why a row is not predicted: what its cells say, or what the forms do not have. Empty if it is.
std::string why_without_form(const MeasuredStep& step);
std::string why_without_form(const MeasuredCollective& one);

MeasuredForms forms_of(const MeasuredTables& tables);
/// The steps of the tables that ship and have a form.
std::vector<FormRow> shipped_steps();

}  // namespace gradwire::bench
