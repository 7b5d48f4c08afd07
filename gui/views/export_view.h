#pragma once
#include <QFont>
#include <QString>
#include <functional>

#include "gui/timeline/timeline_view.h"
#include "results/figures/figure.h"

/// Saves what a chart shows, always in the light theme: for paper. Throws Error naming the file.
namespace gradwire::gui {

struct ExportOptions {
  double width_mm = 201, height_mm = 116;
  double font_pt = 9;
  double png_scale = 2;  ///< pixels of a PNG for one of 1/96 inch
};

/// By the file's ending: .svg, .pdf, .png or .csv (the points). What the axes show is kept.
void export_figure(const results::Figure& figure, const results::Interval& x_view,
                   const results::Interval& y_view, const QFont& font, const QString& file,
                   const ExportOptions& options = {});

/// Anything that paints itself in pixels of 1/96 inch: .pdf or .png.
void export_painted(const std::function<void(QPainter&, const QSizeF&)>& paint, const QString& file,
                    const ExportOptions& options = {});

/// .pdf, .png, or .csv (the segments inside the window of time).
void export_timeline(TimelineView& timeline, const QString& file);

}  // namespace gradwire::gui
