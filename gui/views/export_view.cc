#include "gui/views/export_view.h"

#include <QFileInfo>
#include <QImage>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <cmath>
#include <functional>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "gui/charts/painter_canvas.h"
#include "results/figures/svg.h"

namespace gradwire::gui {

namespace {

constexpr double kPngScale = 2;
/// Pixels at 96 an inch.
double pixels_of_mm(double mm) {
  return std::round(mm / 25.4 * 96);
}
double pixels_of_points(double points) {
  return points * 96 / 72;
}

constexpr int kPdfDpi = 1200;

using Paint = std::function<void(QPainter&)>;

[[noreturn]] void refuse(const QString& file, const char* reason, const char* remedy) {
  throw Error(ErrorKind::kFailure, "export to", file.toStdString(), reason, remedy);
}

void save_png(const Paint& paint, QSizeF size, double scale, const QString& file) {
  QImage image((size * scale).toSize(), QImage::Format_RGB32);
  image.setDevicePixelRatio(scale);
  image.fill(Qt::white);
  QPainter painter(&image);
  paint(painter);
  painter.end();
  if (!image.save(file)) refuse(file, "the file cannot be written", "choose another folder");
}

void save_pdf(const Paint& paint, QSizeF size, const QString& file) {
  QPdfWriter writer(file);
  writer.setResolution(kPdfDpi);
  writer.setCreator("Gradwire");
  writer.setPageMargins({});
  writer.setPageSize(QPageSize(size * 72.0 / 96.0, QPageSize::Point));
  QPainter painter;
  if (!painter.begin(&writer)) refuse(file, "the file cannot be written", "choose another folder");
  painter.scale(kPdfDpi / 96.0, kPdfDpi / 96.0);
  paint(painter);
}

void save(const Paint& paint, QSizeF size, double scale, const QString& file, const char* endings) {
  const QString ending = QFileInfo(file).suffix().toLower();
  if (ending == "png") return save_png(paint, size, scale, file);
  if (ending == "pdf") return save_pdf(paint, size, file);
  refuse(file, "the ending says no known format", endings);
}

std::string timeline_csv(const TimelineView& timeline) {
  std::string csv = "run,step,worker,lane,label,start_s,end_s,bytes\n";
  for (int track = 0; track < 2; ++track) {
    const TimelinePtr& run = timeline.tracks()[static_cast<std::size_t>(track)];
    for (const results::TimelineSegment& segment : timeline.visible_segments(track)) {
      csv += std::to_string(run->run) + ',' + std::to_string(segment.step) + ',' +
             std::to_string(segment.worker) + ',' + name_of(group_of(segment.lane)) + ",\"" +
             segment.label + "\"," + QString::number(segment.start_s, 'g', 17).toStdString() + ',' +
             QString::number(segment.end_s, 'g', 17).toStdString() + ',' +
             std::to_string(segment.bytes) + '\n';
    }
  }
  return csv;
}

}  // namespace

void export_figure(const results::Figure& figure, const results::Interval& x_view,
                   const results::Interval& y_view, const QFont& font, const QString& file,
                   const ExportOptions& wanted) {
  const QString ending = QFileInfo(file).suffix().toLower();
  if (ending == "csv") return write_file(file.toStdString(), results::figure_csv(figure));
  results::SvgOptions options;
  options.paint.width = pixels_of_mm(wanted.width_mm);
  options.paint.height = pixels_of_mm(wanted.height_mm);
  options.paint.font_size = pixels_of_points(wanted.font_pt);
  options.paint.x_view = x_view;
  options.paint.y_view = y_view;
  if (ending == "svg") return write_file(file.toStdString(), results::to_svg(figure, options));
  const results::Theme theme = results::Theme::light();
  const auto paint = [&](QPainter& painter) {
    PainterCanvas canvas(&painter, theme, font);
    results::paint(figure, options.paint, canvas);
  };
  save(paint, {options.paint.width, options.paint.height}, wanted.png_scale, file,
       "use .svg, .pdf, .png or .csv");
}

void export_painted(const std::function<void(QPainter&, const QSizeF&)>& paint, const QString& file,
                    const ExportOptions& options) {
  const QSizeF size(pixels_of_mm(options.width_mm), pixels_of_mm(options.height_mm));
  save([&](QPainter& painter) { paint(painter, size); }, size, options.png_scale, file,
       "use .pdf or .png");
}

void export_timeline(TimelineView& timeline, const QString& file) {
  if (QFileInfo(file).suffix().toLower() == "csv") {
    return write_file(file.toStdString(), timeline_csv(timeline));
  }
  const auto paint = [&](QPainter& painter) { timeline.paint_for_paper(painter); };
  save(paint, timeline.viewport()->size(), kPngScale, file, "use .pdf, .png or .csv");
}

}  // namespace gradwire::gui
