#include "cli/help/help.h"

#include <algorithm>

#include "base/text_width.h"
#include "cli/help/option_text.h"

namespace gradwire::cli {
namespace {

constexpr std::size_t kLeft = 26;         ///< columns of names
constexpr std::size_t kWidestPage = 100;  ///< longer lines are hard to read
constexpr std::size_t kIndent = 2;

class PageFormatter : public CLI::Formatter {
 public:
  explicit PageFormatter(const Context& context) : context_(context) {}

  std::string make_option(const CLI::Option* option, bool) const override {
    return entry(option_title(*option), option_help(*option));
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return entry(command->get_display_name(true), command->get_description());
  }

  std::string make_description(const CLI::App* app) const override {
    return paragraphs(Formatter::make_description(app));
  }

  std::string make_footer(const CLI::App* app) const override {
    std::string text = Formatter::make_footer(app);
    if (app->get_parent())
      text += std::string(text.empty() ? "" : "\n") + "Options of all commands: gradwire --help\n";
    return paragraphs(text);
  }

 private:
  std::size_t page() const {
    const std::size_t width = context_.page_width();
    return width == 0 ? kWidestPage : std::min(width, kWidestPage);
  }

  /// A name on the left, or in lines of its own where it is long; its description on the right.
  std::string entry(const std::string& name, const std::string& description) const {
    std::string out;
    std::size_t at = 0;  // columns of the last line
    for (const std::string& line : wrapped(name, page() - 2 * kIndent)) {
      const std::string space(out.empty() ? kIndent : 2 * kIndent, ' ');
      out += (out.empty() ? "" : "\n") + space + line;
      at = space.size() + display_width(line);
    }
    if (description.empty()) return out + "\n";
    for (const std::string& line : wrapped(description, page() - kLeft)) {
      if (at + 1 > kLeft) {
        out += "\n";
        at = 0;
      }
      out += std::string(kLeft - at, ' ') + line;
      at = page();
    }
    return out + "\n";
  }

  /// Lines of examples, which are indented, and headings stay as they are; others flow.
  std::string paragraphs(const std::string& text) const {
    std::string out, prose;
    const auto end_paragraph = [&] {
      if (prose.empty()) return;
      for (const std::string& line : wrapped(prose, page())) out += line + "\n";
      prose.clear();
    };
    for (const std::string& line : wrapped(text, 0)) {
      const bool stays = line.empty() || line.starts_with(" ") || line.ends_with(":");
      if (stays) end_paragraph();
      if (stays)
        out += line + "\n";
      else
        prose += (prose.empty() ? "" : " ") + line;
    }
    end_paragraph();
    if (text.empty() || text.ends_with("\n")) out.pop_back();  // no line after the last end
    return out;
  }

  const Context& context_;
};

}  // namespace

std::shared_ptr<CLI::Formatter> help_formatter(const Context& context) {
  return std::make_shared<PageFormatter>(context);
}

}  // namespace gradwire::cli
