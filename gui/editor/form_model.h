#pragma once
#include <QString>
#include <QStringList>
#include <optional>
#include <string>
#include <vector>

/// The scenario's form: the fields that apply to a text, from the one table of fields
/// (scenarios/fields/fields.h). Nothing here knows a field by name.
namespace gradwire::gui {

struct FormField {
  std::string pointer;
  QString section;  ///< its first token: "network"
  QString label;    ///< the rest: "link / bandwidth"
  QString help;
  QString unit;
  QStringList choices;   ///< of choices and booleans; else empty
  QString default_text;  ///< shown where the file does not say
  QString value;         ///< as the file says it; empty = it does not
  QString allowed;
  bool required = false;
  bool swept = false;  ///< the sweep varies it: its values stand there
};

/// Of a text that is JSON, the fields of single values that apply to its workload and choices, in
/// the table's order. Empty where it is no JSON object.
std::vector<FormField> form_fields(const std::string& text);

/// Why a field may not have this value, with what is allowed; empty if it may.
QString refusal(const std::string& pointer, const QString& value);

/// The text with the field set, or taken out where `value` is empty. Only the value's own place
/// changes where the file has one; else its object is written anew. None where the text is no JSON.
std::optional<std::string> with_field(const std::string& text, const std::string& pointer,
                                      const QString& value);

}  // namespace gradwire::gui
