#include "gui/models/deep_link.h"

#include "base/error.h"
#include "base/units.h"
#include "results/runs/place.h"

namespace gradwire::gui {

namespace {

constexpr const char* kScheme = "run:";

[[noreturn]] void refuse_link(const QString& text, const std::string& why) {
  throw Error(ErrorKind::kUsage, "open", text.toStdString(), why,
              "write run:42 or run:42@1.20s..1.31s");
}

double time_of(const QString& part, const QString& link) {
  try {
    return parse_duration(part.trimmed().toStdString()).value();
  } catch (const Error& error) {
    refuse_link(link, std::string("its time cannot be read: ") + error.what());
  }
}

}  // namespace

bool is_deep_link(const QString& text) {
  return text.startsWith(kScheme);
}

DeepLink parse_deep_link(const QString& text) {
  DeepLink link;
  if (!is_deep_link(text)) refuse_link(text, "it does not begin with run:");
  bool number = false;
  link.run = text.mid(4).section('@', 0, 0).toLongLong(&number);
  if (!number || link.run <= 0) refuse_link(text, "a run has a number from 1");
  if (!text.contains('@')) return link;
  const QString range = text.section('@', 1);
  if (range.count("..") != 1) refuse_link(text, "a range of time is FROM..TO");
  const qsizetype dots = range.indexOf("..");
  link.range = {time_of(range.left(dots), text), time_of(range.mid(dots + 2), text)};
  if (link.range->to_s <= link.range->from_s) refuse_link(text, "its range ends before it begins");
  return link;
}

QString text_of(const DeepLink& link) {
  return QString::fromStdString(
      link.range ? results::place_of(link.run, link.range->from_s, link.range->to_s)
                 : results::place_of(link.run));
}

}  // namespace gradwire::gui
