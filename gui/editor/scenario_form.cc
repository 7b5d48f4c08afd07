#include "gui/editor/scenario_form.h"

#include <QComboBox>
#include <QHeaderView>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <map>

#include "gui/charts/theme.h"

namespace gradwire::gui {
namespace {

constexpr int kPointerRole = Qt::UserRole + 1;
constexpr int kChoicesRole = Qt::UserRole + 2;
constexpr int kDefaultRole = Qt::UserRole + 3;

/// Values are edited in a field, or, where there are choices, in a list of them.
class ValueDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem& option,
                        const QModelIndex& index) const override {
    const QStringList choices = index.data(kChoicesRole).toStringList();
    if (index.column() != 1) return nullptr;
    if (choices.isEmpty()) return QStyledItemDelegate::createEditor(parent, option, index);
    auto* box = new QComboBox(parent);
    box->addItem(QString());
    box->addItems(choices);
    return box;
  }
  /// What the file leaves out is shown as it will be, faint and slanted.
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    if (index.column() != 1 || !option->text.isEmpty()) return;
    option->text = index.data(kDefaultRole).toString();
    option->font.setItalic(true);
    option->palette.setColor(QPalette::Text, theme_of(option->palette).faint_ink);
  }
  void setEditorData(QWidget* editor, const QModelIndex& index) const override {
    if (auto* box = qobject_cast<QComboBox*>(editor)) {
      box->setCurrentText(index.data(Qt::EditRole).toString());
    } else {
      QStyledItemDelegate::setEditorData(editor, index);
    }
  }
  void setModelData(QWidget* editor, QAbstractItemModel* model,
                    const QModelIndex& index) const override {
    if (auto* box = qobject_cast<QComboBox*>(editor)) {
      model->setData(index, box->currentText(), Qt::EditRole);
    } else {
      QStyledItemDelegate::setModelData(editor, model, index);
    }
  }
};

}  // namespace

ScenarioForm::ScenarioForm(QWidget* parent) : QWidget(parent) {
  search_ = new QLineEdit(this);
  search_->setPlaceholderText("Find a field");
  search_->setClearButtonEnabled(true);
  search_->setAccessibleName("Find a field of the scenario");
  tree_ = new QTreeWidget(this);
  tree_->setColumnCount(2);
  tree_->setHeaderLabels({"Field", "Value"});
  tree_->setItemDelegate(new ValueDelegate(tree_));
  tree_->setAlternatingRowColors(true);
  tree_->setUniformRowHeights(true);
  tree_->setEditTriggers(QAbstractItemView::AllEditTriggers);
  tree_->setAccessibleName("Fields of the scenario");
  tree_->header()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  layout->addWidget(search_);
  layout->addWidget(tree_, 1);
  connect(tree_, &QTreeWidget::itemChanged, this, &ScenarioForm::take);
  connect(search_, &QLineEdit::textChanged, this, &ScenarioForm::apply_search);
}

bool ScenarioForm::same_rows(const std::vector<FormField>& fields) const {
  return std::equal(fields.begin(), fields.end(), fields_.begin(), fields_.end(),
                    [](const FormField& a, const FormField& b) { return a.pointer == b.pointer; });
}

void ScenarioForm::fill(QTreeWidgetItem* item, const FormField& field) const {
  item->setText(0, field.label);
  const QString text = field.swept ? QString("(varied by the sweep)") : field.value;
  item->setText(1, text);
  QString tip = field.help;
  if (!field.unit.isEmpty()) tip += QString(" Unit: %1.").arg(field.unit);
  if (!field.allowed.isEmpty()) tip += "\nAllowed: " + field.allowed;
  if (!field.default_text.isEmpty()) tip += "\nDefault: " + field.default_text;
  tip += "\n" + QString::fromStdString(field.pointer);
  item->setToolTip(0, tip);
  item->setToolTip(1, tip);
  item->setData(1, kPointerRole, QString::fromStdString(field.pointer));
  item->setData(1, kChoicesRole, field.choices);
  Qt::ItemFlags flags = Qt::ItemIsEnabled | Qt::ItemIsSelectable;
  if (!field.swept) flags |= Qt::ItemIsEditable;
  item->setFlags(flags);
  item->setData(1, kDefaultRole, field.default_text);
}

void ScenarioForm::show_text(const std::string& text) {
  std::vector<FormField> fields = form_fields(text);
  // While the text is no JSON the form keeps what it had.
  if (fields.empty()) return;
  filling_ = true;
  const bool same = same_rows(fields);
  fields_ = std::move(fields);
  const int scroll = tree_->verticalScrollBar()->value();
  if (!same) tree_->clear();
  std::map<QString, QTreeWidgetItem*> sections;
  for (int i = 0; same && i < tree_->topLevelItemCount(); ++i) {
    sections[tree_->topLevelItem(i)->text(0)] = tree_->topLevelItem(i);
  }
  std::map<QString, int> next;
  for (const FormField& field : fields_) {
    QTreeWidgetItem*& section = sections[field.section];
    if (!section) {
      section = new QTreeWidgetItem(tree_, {field.section});
      section->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable);
      section->setExpanded(true);
    }
    const int row = next[field.section]++;
    auto* item = same ? section->child(row) : new QTreeWidgetItem(section);
    fill(item, field);
  }
  tree_->verticalScrollBar()->setValue(scroll);
  filling_ = false;
  if (!same) apply_search();
}

QTreeWidgetItem* ScenarioForm::item_of(const std::string& pointer) const {
  for (QTreeWidgetItemIterator it(tree_); *it; ++it) {
    if ((*it)->data(1, kPointerRole).toString().toStdString() == pointer) return *it;
  }
  return nullptr;
}

void ScenarioForm::take(QTreeWidgetItem* item, int column) {
  const QString pointer = item->data(1, kPointerRole).toString();
  if (filling_ || column != 1 || pointer.isEmpty()) return;
  const QString value = item->text(1);
  const auto field = std::find_if(fields_.begin(), fields_.end(), [&](const FormField& each) {
    return each.pointer == pointer.toStdString();
  });
  if (field == fields_.end() || field->value == value) return;
  const QString why = refusal(field->pointer, value);
  if (why.isEmpty()) {
    emit edited(pointer, value);
    return;
  }
  emit refused(QString("%1: %2").arg(pointer, why));
  filling_ = true;
  fill(item, *field);
  filling_ = false;
}

void ScenarioForm::apply_search() {
  const QString words = search_->text().trimmed();
  for (int s = 0; s < tree_->topLevelItemCount(); ++s) {
    QTreeWidgetItem* section = tree_->topLevelItem(s);
    bool any = false;
    for (int i = 0; i < section->childCount(); ++i) {
      QTreeWidgetItem* item = section->child(i);
      const bool fits = words.isEmpty() || item->toolTip(1).contains(words, Qt::CaseInsensitive) ||
                        item->text(0).contains(words, Qt::CaseInsensitive);
      item->setHidden(!fits);
      any = any || fits;
    }
    section->setHidden(!any);
  }
}

}  // namespace gradwire::gui
