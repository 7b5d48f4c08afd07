#include "gui/editor/form_model.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "scenarios/document/pointer.h"
#include "scenarios/document/values.h"
#include "scenarios/fields/fields.h"

namespace gradwire::gui {
namespace {

using nlohmann::ordered_json;
using scenarios::Field;

/// What only the program writes.
constexpr const char* kLeftOut[] = {"/$schema", "/schema_version"};

std::optional<scenarios::KindMask> kind_of(const ordered_json& root) {
  for (std::size_t i = 0; i < scenarios::kWorkloadKeys.size(); ++i) {
    if (scenarios::find_at(root, std::string("/workload/") + scenarios::kWorkloadKeys[i])) {
      return scenarios::mask_of(static_cast<scenarios::WorkloadKind>(i));
    }
  }
  return std::nullopt;
}

QString shown(const ordered_json& value) {
  return QString::fromStdString(value.is_string() ? value.get<std::string>() : value.dump());
}

/// The value that stands at a pointer, or the default that takes its place.
QString value_or_default(const ordered_json& root, const std::string& pointer) {
  if (const ordered_json* there = scenarios::find_at(root, pointer)) return shown(*there);
  const auto* node = scenarios::scenario_table().find(pointer);
  return node ? QString::fromStdString(node->field().spec.default_text) : QString();
}

/// Whether a sweep goes through one of the choices.
bool any_of(const ordered_json& axis, const std::vector<std::string>& choices) {
  if (!axis.is_array()) return true;
  return std::any_of(axis.begin(), axis.end(), [&](const ordered_json& value) {
    return std::find(choices.begin(), choices.end(), shown(value).toStdString()) != choices.end();
  });
}

bool applies(const Field& field, const ordered_json& root,
             std::optional<scenarios::KindMask> kind) {
  if (kind && (field.kinds & *kind) == 0) return false;
  if (!field.when) return true;
  const ordered_json* sweep = scenarios::find_at(root, "/sweep");
  if (sweep && sweep->is_object() && sweep->contains(field.when->pointer)) {
    return any_of((*sweep)[field.when->pointer], field.when->values);
  }
  const std::string value = value_or_default(root, field.when->pointer).toStdString();
  return std::find(field.when->values.begin(), field.when->values.end(), value) !=
         field.when->values.end();
}

/// An object around the field that is optional and absent: its fields would appear from nowhere.
bool in_absent_object(const std::string& pointer, const ordered_json& root) {
  for (std::string parent = scenarios::parent_pointer(pointer); !parent.empty();
       parent = scenarios::parent_pointer(parent)) {
    const auto* node = scenarios::scenario_table().find(parent);
    if (node && node->field().optional && !scenarios::find_at(root, parent)) return true;
  }
  return false;
}

FormField form_field(const Field& field, const ordered_json& root) {
  FormField row;
  row.pointer = field.pointer;
  const QString path = QString::fromStdString(field.pointer);
  const bool alone = path.count('/') == 1;
  row.section = alone ? QString("scenario") : path.section('/', 1, 1);
  row.label = (alone ? path.mid(1) : path.section('/', 2)).replace("/", " / ");
  row.help = QString::fromStdString(field.spec.help);
  row.unit = QString::fromStdString(field.unit);
  row.default_text = QString::fromStdString(
      field.spec.default_text.empty() ? field.computed_default : field.spec.default_text);
  row.required = field.required;
  row.allowed = QString::fromStdString(scenarios::allowed_of(field));
  if (field.spec.type == OptionType::kBoolean) row.choices = {"true", "false"};
  for (const std::string& choice : field.spec.choices) {
    row.choices << QString::fromStdString(choice);
  }
  if (const ordered_json* value = scenarios::find_at(root, field.pointer))
    row.value = shown(*value);
  const ordered_json* sweep = scenarios::find_at(root, "/sweep");
  row.swept = sweep && sweep->is_object() && sweep->contains(field.pointer);
  return row;
}

/// As JSON that the table's row takes: a number or truth as such, else a text.
ordered_json json_of(const Field& field, const QString& value) {
  const std::string text = value.trimmed().toStdString();
  const bool plain = field.spec.type == OptionType::kBoolean ||
                     field.spec.type == OptionType::kInteger ||
                     field.spec.type == OptionType::kNumber;
  ordered_json json = plain ? ordered_json::parse(text, nullptr, false) : ordered_json(text);
  return json.is_discarded() ? ordered_json(text) : json;
}

/// Where the value of a key begins and ends, if the key occurs once as a key in the text.
std::optional<std::pair<std::size_t, std::size_t>> only_place(const std::string& text,
                                                              const std::string& key,
                                                              const std::string& value) {
  const std::string quoted = ordered_json(key).dump();
  std::optional<std::pair<std::size_t, std::size_t>> place;
  for (std::size_t at = text.find(quoted); at != std::string::npos;
       at = text.find(quoted, at + 1)) {
    std::size_t begin = at + quoted.size();
    while (begin < text.size() && std::isspace(static_cast<unsigned char>(text[begin]))) ++begin;
    if (begin >= text.size() || text[begin] != ':') continue;
    do {
      ++begin;
    } while (begin < text.size() && std::isspace(static_cast<unsigned char>(text[begin])));
    if (place) return std::nullopt;
    if (text.compare(begin, value.size(), value) != 0) return std::nullopt;
    place = {begin, value.size()};
  }
  return place;
}

}  // namespace

std::vector<FormField> form_fields(const std::string& text) {
  const ordered_json root = ordered_json::parse(text, nullptr, false);
  std::vector<FormField> rows;
  if (!root.is_object()) return rows;
  const auto kind = kind_of(root);
  for (const Field& field : scenarios::scenario_table().fields()) {
    if (field.shape != scenarios::Shape::kValue || field.pointer.find('*') != std::string::npos ||
        field.pointer.empty()) {
      continue;
    }
    if (std::find(std::begin(kLeftOut), std::end(kLeftOut), field.pointer) != std::end(kLeftOut)) {
      continue;
    }
    const bool there = scenarios::find_at(root, field.pointer) != nullptr;
    if (!there && (!applies(field, root, kind) || in_absent_object(field.pointer, root))) continue;
    // Options of several codecs may share one place: the first that applies is shown.
    if (std::any_of(rows.begin(), rows.end(),
                    [&](const FormField& row) { return row.pointer == field.pointer; })) {
      continue;
    }
    rows.push_back(form_field(field, root));
  }
  return rows;
}

QString refusal(const std::string& pointer, const QString& value) {
  const auto* node = scenarios::scenario_table().find(pointer);
  if (!node || value.trimmed().isEmpty()) return {};
  QString first;
  for (const Field* field : node->fields) {
    const auto checked = scenarios::check_value(*field, json_of(*field, value));
    if (checked.problem.empty()) return {};
    if (!first.isEmpty()) continue;
    first = QString::fromStdString(checked.problem);
    const std::string allowed = scenarios::allowed_of(*field);
    if (!allowed.empty()) first += "; allowed: " + QString::fromStdString(allowed);
    if (!checked.suggestion.empty()) {
      first += QString("; did you mean \"%1\"?").arg(QString::fromStdString(checked.suggestion));
    }
  }
  return first;
}

std::optional<std::string> with_field(const std::string& text, const std::string& pointer,
                                      const QString& value) {
  ordered_json root = ordered_json::parse(text, nullptr, false);
  const auto* node = scenarios::scenario_table().find(pointer);
  if (!root.is_object() || !node) return std::nullopt;
  const ordered_json* there = scenarios::find_at(root, pointer);
  if (value.trimmed().isEmpty()) {
    if (!there) return text;
    scenarios::erase_at(root, pointer);
    return root.dump(2) + "\n";
  }
  const ordered_json json = json_of(node->field(), value);
  const std::string before = there ? there->dump() : std::string();
  if (!scenarios::assign_at(root, pointer, json)) return std::nullopt;
  if (!before.empty()) {
    const auto place = only_place(text, scenarios::pointer_tokens(pointer).back(), before);
    if (place) {
      std::string changed = text;
      changed.replace(place->first, place->second, json.dump());
      if (ordered_json::parse(changed, nullptr, false) == root) return changed;
    }
  }
  return root.dump(2) + "\n";
}

}  // namespace gradwire::gui
