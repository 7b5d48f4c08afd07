#include "results/figures/figure_painter.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "results/figures/figure_internal.h"

namespace gradwire::results {
namespace {

void paint_title(const Figure& figure, const PaintOptions& options, Canvas& canvas) {
  if (!options.with_title) return;
  const double font = options.font_size;
  double y = 8 + font * 1.2;
  if (!figure.title.empty()) {
    const TextStyle style{{Role::kInk}, font * 1.25, true};
    canvas.text({8, y}, shortened(figure.title, options.width - 16, style, canvas), style);
    y += font * 1.6;
  }
  const TextStyle style{{Role::kMuted}, font};
  if (figure.subtitle.empty()) return;
  for (const std::string& line : wrapped(figure.subtitle, options.width - 16, style, canvas)) {
    canvas.text({8, y}, line, style);
    y += font * 1.45;
  }
}

void paint_x_axis(const Figure& figure, const Frame& frame, const PlotLayout& at, double font,
                  Canvas& canvas) {
  const TextStyle label{{Role::kMuted}, font, false, Align::kMiddle};
  const double y = frame.plot.bottom();
  double free_from = -1e9;
  for (const Tick& tick : frame.x_ticks) {
    const double x = at.x.pixel(tick.value);
    if (figure.x.categories.empty()) {
      const Pixel grid[] = {{x, frame.plot.y}, {x, y}};
      canvas.polyline(grid, {{Role::kGrid}, 1});
    }
    const double half = canvas.text_width(tick.label, label) / 2;
    if (x - half < free_from) continue;  // labels never overlap
    canvas.text({x, y + font * 1.35}, tick.label, label);
    free_from = x + half + font * 0.6;
  }
  const std::string title = axis_title(figure.x, frame.x_view);
  if (figure.x.label.empty()) return;
  canvas.text({frame.plot.x + frame.plot.width / 2, y + font * 2.8}, title,
              {{Role::kInk}, font, false, Align::kMiddle});
}

void paint_y_axis(const Figure& figure, const Frame& frame, const PlotLayout& at, double font,
                  Canvas& canvas) {
  const bool categories = !figure.y.categories.empty();
  const TextStyle label{{categories ? Role::kInk : Role::kMuted}, font, false, Align::kEnd};
  double last_drawn = -1e9;
  for (const Tick& tick : frame.y_ticks) {
    const double y = at.y.pixel(tick.value);
    if (!categories) {
      const Pixel grid[] = {{frame.plot.x, y}, {frame.plot.right(), y}};
      canvas.polyline(grid, {{Role::kGrid}, 1});
    }
    if (std::abs(y - last_drawn) < font * 0.95) continue;
    canvas.text({frame.plot.x - 8, y + font * 0.35}, tick.label, label);
    last_drawn = y;
  }
  if (figure.y.label.empty()) return;
  canvas.text({8, frame.plot.y - font * 0.75}, axis_title(figure.y, frame.y_view),
              {{Role::kInk}, font});
}

void paint_frame(const Figure& figure, const Frame& frame, Canvas& canvas) {
  const Rect& plot = frame.plot;
  const Pixel x_line[] = {{plot.x, plot.bottom()}, {plot.right(), plot.bottom()}};
  const Pixel y_line[] = {{plot.x, plot.y}, {plot.x, plot.bottom()}};
  canvas.polyline(figure.horizontal_bars ? y_line : x_line, {{Role::kMuted}, 1});
}

void paint_annotation(const Annotation& note, const PlotLayout& at, double font, Canvas& canvas) {
  const double x = at.x.pixel(note.x), y = at.y.pixel(note.y);
  const Stroke stroke{{Role::kMuted}, 1, Dash::kDashed};
  const TextStyle style{{Role::kInk}, font * 0.9};
  const Rect& plot = at.plot;
  if (note.kind == Annotation::Kind::kVertical && x >= plot.x && x <= plot.right()) {
    const Pixel line[] = {{x, plot.y}, {x, plot.bottom()}};
    canvas.polyline(line, stroke);
    canvas.text({x + 4, plot.y + font}, note.text, style);
  }
  if (note.kind == Annotation::Kind::kHorizontal && y >= plot.y && y <= plot.bottom()) {
    const Pixel line[] = {{plot.x, y}, {plot.right(), y}};
    canvas.polyline(line, stroke);
    // Below the line and to the right: a curve that reached it is above it by then.
    TextStyle right = style;
    right.align = Align::kEnd;
    canvas.text({plot.right() - 4, y + font}, note.text, right);
  }
  if (note.kind == Annotation::Kind::kText && plot.contains({x, y}))
    canvas.text({x + 6, y - 6}, note.text, style);
}

void paint_legend(const Figure& figure, const Frame& frame, const PaintOptions& options,
                  Canvas& canvas) {
  const double font = options.font_size;
  const bool right = figure.legend == Legend::kRight;
  const double axis = figure.x.label.empty() ? 1.8 : 3.25;
  const Pixel corner = right ? Pixel{frame.plot.right() + 14, frame.plot.y + font}
                             : Pixel{8, frame.plot.bottom() + font * (axis + 1.45)};
  for (const LegendCell& cell : frame.legend) {
    const Pixel at{corner.x + cell.x, corner.y + cell.y};
    if (right && at.y > options.height) break;
    paint_sample(*cell.series, {at.x, at.y - font * 0.35}, canvas);
    canvas.text({at.x + kLegendSample, at.y}, cell.text, {{Role::kInk}, font});
  }
}

std::string footer_text(const Figure& figure) {
  std::string text = figure.provenance;
  const std::size_t count = figure.scenario_hashes.size();
  if (count == 0) return text;
  text += text.empty() ? "" : " \u00b7 ";
  text += count == 1 ? "scenario " : "scenarios ";
  for (std::size_t i = 0; i < std::min<std::size_t>(count, 2); ++i)
    text += (i ? ", " : "") + figure.scenario_hashes[i].substr(0, 16);
  if (count > 2) text += " and " + std::to_string(count - 2) + " more";
  return text;
}

}  // namespace

PlotLayout paint(const Figure& figure, const PaintOptions& options, Canvas& canvas) {
  check(figure);
  const Frame frame = frame_of(figure, options, canvas);
  const PlotLayout at = layout_of(figure, frame);
  const double font = options.font_size;
  canvas.rectangle({0, 0, options.width, options.height}, {Role::kBackground}, 1);
  paint_title(figure, options, canvas);
  paint_x_axis(figure, frame, at, font, canvas);
  paint_y_axis(figure, frame, at, font, canvas);
  paint_series(figure, at, font, canvas);
  paint_frame(figure, frame, canvas);
  for (const Annotation& note : figure.annotations) paint_annotation(note, at, font, canvas);
  paint_legend(figure, frame, options, canvas);
  if (options.with_provenance && has_footer(figure)) {
    const TextStyle small{{Role::kMuted}, font * 0.85};
    canvas.text({8, options.height - font * 0.5},
                shortened(footer_text(figure), options.width - 16, small, canvas), small);
  }
  return at;
}

std::vector<Pixel> mark_outline(Mark mark, double size) {
  const double r = size / 2, w = size / 7;
  switch (mark) {
    case Mark::kSquare:
      return {{-r * 0.88, -r * 0.88},
              {r * 0.88, -r * 0.88},
              {r * 0.88, r * 0.88},
              {-r * 0.88, r * 0.88}};
    case Mark::kTriangle:
      return {{0, -r * 1.1}, {r * 1.05, r * 0.8}, {-r * 1.05, r * 0.8}};
    case Mark::kDown:
      return {{0, r * 1.1}, {r * 1.05, -r * 0.8}, {-r * 1.05, -r * 0.8}};
    case Mark::kDiamond:
      return {{0, -r * 1.2}, {r * 1.2, 0}, {0, r * 1.2}, {-r * 1.2, 0}};
    case Mark::kPlus:
    case Mark::kCross:
      break;
    default:
      return {};
  }
  std::vector<Pixel> plus = {{-w, -r}, {w, -r}, {w, -w}, {r, -w}, {r, w},   {w, w},
                             {w, r},   {-w, r}, {-w, w}, {-r, w}, {-r, -w}, {-w, -w}};
  if (mark == Mark::kPlus) return plus;
  const double turn = std::numbers::sqrt2 / 2;
  for (Pixel& p : plus) p = {(p.x - p.y) * turn, (p.x + p.y) * turn};
  return plus;
}

std::vector<double> dash_pattern(Dash dash) {
  switch (dash) {
    case Dash::kDashed:
      return {5, 3};
    case Dash::kDotted:
      return {1.2, 2.2};
    case Dash::kDashDot:
      return {6, 2.5, 1.2, 2.5};
    default:
      return {};
  }
}

double estimated_text_width(std::string_view text, double size, bool bold) {
  double width = 0;
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if ((code & 0xC0) == 0x80) continue;  // the rest of a UTF-8 character
    const std::string_view narrow = "iIjl.,:;|!'()[]tfr -/";
    const std::string_view wide = "mMwWOQ@%";
    const bool capital = code >= 'A' && code <= 'Z';
    if (wide.find(letter) != std::string_view::npos)
      width += 0.86;
    else if (narrow.find(letter) != std::string_view::npos)
      width += 0.32;
    else
      width += capital ? 0.69 : 0.56;
  }
  return width * size * (bold ? 1.07 : 1.0);
}

}  // namespace gradwire::results
