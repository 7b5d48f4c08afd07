#pragma once
#include <QJsonObject>
#include <QString>
#include <QStringList>
#include <optional>
#include <vector>

#include "results/figures/plot_geometry.h"

/// What one looks at, without the data: kept under a name, and gone back to. Columns are named as
/// filters name them, so that a view survives other runs.
namespace gradwire::gui {

struct ViewState {
  QString filter;
  bool only_differing = false, with_lacking = false;
  QString sort_key;
  bool descending = true;
  QString x, y, colour, panels;  ///< titles; panels empty = one
  bool log_x = false, log_y = false, front = true;
  results::Interval x_view, y_view;  ///< of the chart's zoom; empty = everything
  int tab = 0;

  bool operator==(const ViewState& other) const;
};

QJsonObject to_json(const ViewState& view);
/// Members that are absent or of another type keep their defaults.
ViewState view_of_json(const QJsonObject& object);

/// States gone through, as a browser keeps pages: going somewhere forgets what was ahead.
class ViewHistory {
 public:
  static constexpr std::size_t kMost = 100;

  /// Where one is now; nothing happens if one was there.
  void visit(const ViewState& view);
  std::optional<ViewState> back();
  std::optional<ViewState> forward();
  bool can_go_back() const { return at_ > 0; }
  bool can_go_forward() const { return at_ + 1 < views_.size(); }
  void clear() { views_.clear(), at_ = 0; }

 private:
  std::vector<ViewState> views_;
  std::size_t at_ = 0;
};

/// Named views in a file beside the database ("runs.db.views.json"), not in it.
class SavedViews {
 public:
  /// Reads the file; a missing one has no views. Throws Error for one that cannot be read.
  void open(const QString& database);
  QStringList names() const;
  std::optional<ViewState> find(const QString& name) const;
  /// Replaces one of that name. Throws Error where the file cannot be written.
  void save(const QString& name, const ViewState& view);
  void remove(const QString& name);

 private:
  void write() const;

  QString file_;
  std::vector<std::pair<QString, ViewState>> views_;
};

}  // namespace gradwire::gui
