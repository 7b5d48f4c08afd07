#pragma once
#include <functional>

#include "gui/models/data_table.h"
#include "results/figures/figure.h"

namespace gradwire::gui {

/// What a figure shows, for those who cannot see it: a row a point, each value with its unit.
/// `name_of`: what a point is ("run 42"), where it has a name.
DataTable figure_table(
    const results::Figure& figure,
    const std::function<QString(std::size_t series, std::size_t point)>& name_of = {});

}  // namespace gradwire::gui
