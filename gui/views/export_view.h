#pragma once
#include <QFont>
#include <QString>

#include "gui/timeline/timeline_view.h"
#include "results/figure.h"

/// Saves what a chart shows, always in the light theme: for paper. Throws Error naming the file.
namespace gradwire::gui {

/// By the file's ending: .svg, .pdf, .png or .csv (the points). What the axes show is kept.
void export_figure(const results::Figure& figure, const results::Interval& x_view,
                   const results::Interval& y_view, const QFont& font, const QString& file);

/// .pdf, .png, or .csv (the segments inside the window of time).
void export_timeline(TimelineView& timeline, const QString& file);

}  // namespace gradwire::gui
