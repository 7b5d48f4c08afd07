#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "results/figures/figure_painter.h"

namespace gradwire::results {

struct SvgOptions {
  PaintOptions paint = {};
  Theme theme = Theme::light();
  /// For a figure inside an HTML page: colours become CSS variables (--gw-ink, --gw-s0, ...) that
  /// the page defines for light and dark, and there is no XML declaration.
  bool inline_html = false;
};

/// The whole figure as one SVG document, well-formed XML with text as text, the figure's
/// description, and its scenario hashes in <metadata>.
std::string to_svg(const Figure& figure, const SvgOptions& options = {});

/// What a document says of its drawing.
struct SvgHead {
  std::string title, description;  ///< for those who cannot see it
  std::vector<std::string> scenario_hashes;
  std::string provenance;
};
/// The same of anything that is drawn on a canvas of the size `options.paint`.
std::string to_svg(const SvgHead& head, const SvgOptions& options,
                   const std::function<void(Canvas&)>& draw);

/// Definitions of the variables that inline figures use, for a :root { } block.
std::string css_variables(const Theme& theme);

/// &, <, > and quotes escaped; control characters that XML forbids become U+FFFD.
std::string xml_escape(std::string_view text);

}  // namespace gradwire::results
