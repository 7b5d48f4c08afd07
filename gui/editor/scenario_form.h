#pragma once
#include <QLineEdit>
#include <QTreeWidget>
#include <QWidget>

#include "gui/editor/form_model.h"

namespace gradwire::gui {

/// The fields of a scenario as a tree: a section a branch, a field a row whose value can be edited.
/// What the table of fields refuses is said at once and not taken over.
class ScenarioForm : public QWidget {
  Q_OBJECT

 public:
  explicit ScenarioForm(QWidget* parent = nullptr);

  /// Keeps the current row, what is open, and where it is scrolled to.
  void show_text(const std::string& text);
  QTreeWidget* tree() const { return tree_; }
  QTreeWidgetItem* item_of(const std::string& pointer) const;
  const std::vector<FormField>& fields() const { return fields_; }
  QLineEdit* search() const { return search_; }

 signals:
  void edited(const QString& pointer, const QString& value);
  void refused(const QString& message);

 private:
  void take(QTreeWidgetItem* item, int column);
  void fill(QTreeWidgetItem* item, const FormField& field) const;
  void apply_search();
  bool same_rows(const std::vector<FormField>& fields) const;

  QLineEdit* search_;
  QTreeWidget* tree_;
  std::vector<FormField> fields_;
  bool filling_ = false;
};

}  // namespace gradwire::gui
