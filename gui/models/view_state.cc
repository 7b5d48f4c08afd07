#include "gui/models/view_state.h"

#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <algorithm>

#include "base/error.h"
#include "base/file_descriptor.h"

namespace gradwire::gui {
namespace {

constexpr int kSchema = 1;

QJsonValue interval_json(const results::Interval& interval) {
  if (interval.empty()) return {};
  return QJsonArray{interval.low, interval.high};
}

results::Interval interval_of(const QJsonValue& value) {
  results::Interval interval;
  const QJsonArray ends = value.toArray();
  if (ends.size() != 2) return interval;
  interval.include(ends[0].toDouble());
  interval.include(ends[1].toDouble());
  return interval;
}

bool same(const results::Interval& a, const results::Interval& b) {
  return a.empty() ? b.empty() : !b.empty() && a.low == b.low && a.high == b.high;
}

}  // namespace

bool ViewState::operator==(const ViewState& other) const {
  return to_json(*this) == to_json(other) && same(x_view, other.x_view) &&
         same(y_view, other.y_view);
}

QJsonObject to_json(const ViewState& view) {
  return {{"filter", view.filter},
          {"only_differing", view.only_differing},
          {"with_lacking", view.with_lacking},
          {"sort", view.sort_key},
          {"descending", view.descending},
          {"x", view.x},
          {"y", view.y},
          {"colour", view.colour},
          {"panels", view.panels},
          {"log_x", view.log_x},
          {"log_y", view.log_y},
          {"front", view.front},
          {"x_view", interval_json(view.x_view)},
          {"y_view", interval_json(view.y_view)},
          {"tab", view.tab}};
}

ViewState view_of_json(const QJsonObject& object) {
  ViewState view;
  view.filter = object["filter"].toString();
  view.only_differing = object["only_differing"].toBool();
  view.with_lacking = object["with_lacking"].toBool();
  view.sort_key = object["sort"].toString();
  view.descending = object["descending"].toBool(true);
  view.x = object["x"].toString();
  view.y = object["y"].toString();
  view.colour = object["colour"].toString();
  view.panels = object["panels"].toString();
  view.log_x = object["log_x"].toBool();
  view.log_y = object["log_y"].toBool();
  view.front = object["front"].toBool(true);
  view.x_view = interval_of(object["x_view"]);
  view.y_view = interval_of(object["y_view"]);
  view.tab = object["tab"].toInt();
  return view;
}

void ViewHistory::visit(const ViewState& view) {
  if (!views_.empty() && views_[at_] == view) return;
  if (!views_.empty()) views_.resize(at_ + 1);
  views_.push_back(view);
  if (views_.size() > kMost) views_.erase(views_.begin());
  at_ = views_.size() - 1;
}

std::optional<ViewState> ViewHistory::back() {
  if (!can_go_back()) return std::nullopt;
  return views_[--at_];
}

std::optional<ViewState> ViewHistory::forward() {
  if (!can_go_forward()) return std::nullopt;
  return views_[++at_];
}

void SavedViews::open(const QString& database) {
  file_ = database + ".views.json";
  views_.clear();
  if (!QFileInfo::exists(file_)) return;
  const std::string text = read_file(file_.toStdString());
  const QJsonDocument document = QJsonDocument::fromJson(QByteArray::fromStdString(text));
  if (document["schema_version"].toInt() != kSchema) {
    throw Error(ErrorKind::kFailure, "read the saved views", file_.toStdString(),
                "it is no file of views that this version knows", "move it away");
  }
  for (const QJsonValue& each : document["views"].toArray()) {
    const QJsonObject object = each.toObject();
    views_.emplace_back(object["name"].toString(), view_of_json(object));
  }
}

QStringList SavedViews::names() const {
  QStringList names;
  for (const auto& [name, view] : views_) names << name;
  return names;
}

std::optional<ViewState> SavedViews::find(const QString& name) const {
  for (const auto& [its, view] : views_) {
    if (its == name) return view;
  }
  return std::nullopt;
}

void SavedViews::save(const QString& name, const ViewState& view) {
  std::erase_if(views_, [&](const auto& each) { return each.first == name; });
  views_.emplace_back(name, view);
  std::sort(views_.begin(), views_.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  write();
}

void SavedViews::remove(const QString& name) {
  std::erase_if(views_, [&](const auto& each) { return each.first == name; });
  write();
}

void SavedViews::write() const {
  QJsonArray views;
  for (const auto& [name, view] : views_) {
    QJsonObject object = to_json(view);
    object["name"] = name;
    views << object;
  }
  const QJsonDocument document(QJsonObject{{"schema_version", kSchema}, {"views", views}});
  write_file(file_.toStdString(), document.toJson().toStdString());
}

}  // namespace gradwire::gui
