#include "results/figures/svg.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "results/figures/figure_internal.h"

namespace gradwire::results {
namespace {

/// Tenths of a pixel: what can be seen, in few bytes ("12.3", "7", "-0.5").
void append_number(std::string& out, double value) {
  std::array<char, 32> text{};
  int size = std::snprintf(text.data(), text.size(), "%.1f", value);
  if (size > 2 && text[static_cast<std::size_t>(size - 1)] == '0') size -= 2;
  const std::string_view number(text.data(), static_cast<std::size_t>(size));
  out += number == "-0" ? "0" : number;
}

std::string variable_name(Role role) {
  switch (role.kind) {
    case Role::kBackground:
      return "--gw-background";
    case Role::kInk:
      return "--gw-ink";
    case Role::kMuted:
      return "--gw-muted";
    case Role::kGrid:
      return "--gw-grid";
    case Role::kSeries:
      break;
  }
  return "--gw-s" + std::to_string(role.series % kSeriesColors);
}

class SvgCanvas final : public Canvas {
 public:
  explicit SvgCanvas(const SvgOptions& options) : options_(options) {}

  double text_width(std::string_view text, const TextStyle& style) const override {
    return estimated_text_width(text, style.size, style.bold);
  }

  void polyline(std::span<const Pixel> points, const Stroke& stroke) override {
    out_ += "<path d=\"";
    path(points);
    out_ += "\" fill=\"none\"";
    paint("stroke", stroke.color);
    attribute("stroke-width", stroke.width);
    std::string dashes;
    for (const double length : dash_pattern(stroke.dash)) {
      dashes += dashes.empty() ? "" : " ";
      append_number(dashes, length * stroke.width);
    }
    if (!dashes.empty()) out_ += " stroke-dasharray=\"" + dashes + "\"";
    if (points.size() > 2) out_ += " stroke-linejoin=\"round\"";
    opacity(stroke.opacity);
    out_ += "/>\n";
  }

  void polygon(std::span<const Pixel> points, Role fill, double alpha) override {
    out_ += "<path d=\"";
    path(points);
    out_ += "z\"";
    paint("fill", fill);
    opacity(alpha);
    out_ += "/>\n";
  }

  void rectangle(const Rect& rect, Role fill, double alpha) override {
    out_ += "<rect";
    attribute("x", rect.x);
    attribute("y", rect.y);
    attribute("width", rect.width);
    attribute("height", rect.height);
    paint("fill", fill);
    opacity(alpha);
    out_ += "/>\n";
  }

  void marks(std::span<const Pixel> points, Mark mark, double size, Role color,
             double alpha) override {
    if (mark == Mark::kNone || points.empty()) return;
    // One path for all marks: a circle is two arcs.
    out_ += "<path d=\"";
    const std::vector<Pixel> outline = mark_outline(mark, size);
    for (const Pixel p : points) outline.empty() ? circle(p, size / 2) : shape(p, outline);
    out_ += "\"";
    if (mark == Mark::kRing) {
      out_ += " fill=\"none\"";
      paint("stroke", color);
      attribute("stroke-width", 1.5);
    } else {
      paint("fill", color);
    }
    opacity(alpha);
    out_ += "/>\n";
  }

  void text(Pixel at, std::string_view words, const TextStyle& style) override {
    out_ += "<text";
    attribute("x", at.x);
    attribute("y", at.y);
    attribute("font-size", style.size);
    if (style.bold) out_ += " font-weight=\"600\"";
    if (style.align == Align::kMiddle) out_ += " text-anchor=\"middle\"";
    if (style.align == Align::kEnd) out_ += " text-anchor=\"end\"";
    if (style.rotation != 0) rotation(at, style.rotation);
    paint("fill", style.color);
    out_ += ">" + xml_escape(words) + "</text>\n";
  }

  void clip(const Rect& rect) override {
    // A nested svg element cuts its content and needs no document-wide id.
    out_ += "<svg";
    attribute("x", rect.x);
    attribute("y", rect.y);
    attribute("width", rect.width);
    attribute("height", rect.height);
    out_ += " overflow=\"hidden\" viewBox=\"";
    for (const double value : {rect.x, rect.y, rect.width, rect.height}) {
      append_number(out_, value);
      out_ += " ";
    }
    out_.back() = '"';
    out_ += ">\n";
  }
  void unclip() override { out_ += "</svg>\n"; }

  std::string take() { return std::move(out_); }

 private:
  void attribute(const char* name, double value) {
    out_ += std::string(" ") + name + "=\"";
    append_number(out_, value);
    out_ += "\"";
  }
  void opacity(double value) {
    if (value >= 1) return;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), " opacity=\"%.3g\"", value);
    out_ += text.data();
  }
  void paint(const char* property, Role role) {
    if (options_.inline_html)
      out_ += std::string(" style=\"") + property + ":var(" + variable_name(role) + ")\"";
    else
      out_ += std::string(" ") + property + "=\"" + color_of(options_.theme, role).hex() + "\"";
  }
  void rotation(Pixel at, double degrees) {
    out_ += " transform=\"rotate(";
    append_number(out_, degrees);
    out_ += " ";
    append_number(out_, at.x);
    out_ += " ";
    append_number(out_, at.y);
    out_ += ")\"";
  }
  void pair(double x, double y) {
    append_number(out_, x);
    out_ += " ";
    append_number(out_, y);
  }
  void path(std::span<const Pixel> points) {
    const char* command = "M";
    for (const Pixel p : points) {
      out_ += command;
      pair(p.x, p.y);
      command = "L";
    }
  }
  void circle(Pixel p, double r) {
    out_ += "M";
    pair(p.x - r, p.y);
    for (const double direction : {2.0, -2.0}) {
      out_ += "a";
      pair(r, r);
      out_ += " 0 1 0 ";
      pair(direction * r, 0);
    }
  }
  void shape(Pixel at, const std::vector<Pixel>& outline) {
    const char* command = "M";
    for (const Pixel p : outline) {
      out_ += command;
      pair(at.x + p.x, at.y + p.y);
      command = "L";
    }
    out_ += "z";
  }

  const SvgOptions& options_;
  std::string out_;
};

std::string described(const Figure& figure) {
  if (!figure.description.empty()) return figure.description;
  std::string text = figure.title + ": " + figure.y.label + " against " + figure.x.label + ".";
  std::string names;
  for (const Series& series : figure.series)
    if (!series.name.empty()) names += (names.empty() ? "" : ", ") + series.name;
  return names.empty() ? text : text + " Series: " + names + ".";
}

/// Bytes of the UTF-8 character that `text` starts with; 0 = none that XML allows.
std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return lead >= 0x20 || lead == '\n' || lead == '\t' ? 1 : 0;
  const std::size_t length = lead >= 0xF0 && lead < 0xF5   ? 4
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                                                           : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second >= 0xA0;
  return overlong || surrogate || (lead == 0xF4 && second >= 0x90) ? 0 : length;
}

std::string metadata(const SvgHead& head) {
  std::string text = "<metadata>";
  for (const std::string& hash : head.scenario_hashes)
    text += "scenario_hash=" + xml_escape(hash) + " ";
  if (!head.provenance.empty()) text += "provenance=" + xml_escape(head.provenance);
  return text + "</metadata>\n";
}

}  // namespace

std::string xml_escape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(text.substr(i));
    if (length == 0) {
      out += "\uFFFD";
      ++i;
      continue;
    }
    switch (text[i]) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += text.substr(i, length);
    }
    i += length;
  }
  return out;
}

std::string css_variables(const Theme& theme) {
  std::string out;
  const auto add = [&](Role role) {
    out += variable_name(role) + ":" + color_of(theme, role).hex() + ";";
  };
  for (const auto kind : {Role::kBackground, Role::kInk, Role::kMuted, Role::kGrid}) add({kind});
  for (int i = 0; i < kSeriesColors; ++i) add({Role::kSeries, i});
  return out;
}

std::string to_svg(const Figure& figure, const SvgOptions& options) {
  return to_svg({figure.title, described(figure), figure.scenario_hashes, figure.provenance},
                options, [&](Canvas& canvas) { paint(figure, options.paint, canvas); });
}

std::string to_svg(const SvgHead& head, const SvgOptions& options,
                   const std::function<void(Canvas&)>& draw) {
  SvgCanvas canvas(options);
  draw(canvas);
  std::string size;
  for (const double value : {options.paint.width, options.paint.height}) {
    size += size.empty() ? "" : " ";
    append_number(size, value);
  }
  const std::size_t space = size.find(' ');
  std::string out;
  if (!options.inline_html) out += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + size + "\"";
  if (!options.inline_html)
    out += " width=\"" + size.substr(0, space) + "\" height=\"" + size.substr(space + 1) + "\"";
  out +=
      " role=\"img\" font-family=\"'Helvetica Neue',Helvetica,Arial,'Liberation "
      "Sans',sans-serif\">\n";
  out += "<title>" + xml_escape(head.title) + "</title>\n";
  out += "<desc>" + xml_escape(head.description) + "</desc>\n";
  return out + metadata(head) + canvas.take() + "</svg>\n";
}

}  // namespace gradwire::results
