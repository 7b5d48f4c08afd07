#pragma once
#include <span>
#include <string_view>

#include "results/points/link_facts.h"
#include "results/points/point_list.h"
#include "results/points/unit_columns.h"

/// Points from a table: one row a step (or a lone collective) whose time is known. Columns are
/// documented in docs/models/points.md; units as unit_columns.h says.
namespace gradwire::results {

std::span<const UnitColumn> point_columns();

/// `facts` stand for columns that the table does not have. Throws Error with line and column.
PointList points_from_csv(std::string_view text, const std::string& file, const LinkFacts& facts);

}  // namespace gradwire::results
