#include "scenarios/fields/fields.h"

#include "scenarios/document/pointer.h"

namespace gradwire::scenarios {

std::string Condition::values_text(const char* quote) const {
  std::string text;
  for (const std::string& value : values)
    text += (text.empty() ? "" : " or ") + (quote + value) + quote;
  return text;
}

const FieldTable::Node* FieldTable::Node::child(std::string_view name) const {
  for (const auto& each : children)
    if (each->key == name || each->key == "*") return each.get();
  return nullptr;
}

FieldTable::FieldTable(std::vector<Field> fields) : fields_(std::move(fields)) {
  for (Field& field : fields_) {
    Node* node = &root_;
    for (const std::string& token : pointer_tokens(field.pointer)) {
      const Node* next = node->child(token);
      if (!next) {
        GRADWIRE_ASSERT(parent_pointer(field.pointer) == node->pointer);
        node->children.push_back(std::make_unique<Node>());
        node->children.back()->key = token;
        node->children.back()->pointer = field.pointer;
        next = node->children.back().get();
      }
      node = const_cast<Node*>(next);
      field.spec.name = token;
    }
    node->fields.push_back(&field);
  }
}

const FieldTable::Node* FieldTable::find(std::string_view pointer) const {
  if (!pointer.empty() && pointer.front() != '/') return nullptr;
  const Node* node = &root_;
  for (const std::string& token : pointer_tokens(pointer)) {
    node = node->child(token);
    if (!node) return nullptr;
  }
  return node;
}

std::string FieldTable::nearest_pointer(std::string_view pointer) const {
  std::vector<std::string> names;
  const std::vector<std::string> tokens = pointer_tokens(pointer);
  for (const Field& field : fields_) {
    names.push_back(field.pointer);
    // "/loss" and "/link/loss" mean "/network/link/loss" to most who write them.
    if (!tokens.empty() && field.pointer.ends_with("/" + tokens.back()) &&
        field.pointer.find('*') == std::string::npos)
      return field.pointer;
  }
  return nearest_name(pointer, names);
}

std::string kinds_text(KindMask kinds) {
  std::string text;
  const auto add = [&](WorkloadKind kind, const char* name) {
    if (kinds & mask_of(kind)) text += (text.empty() ? "" : ", ") + std::string(name);
  };
  add(WorkloadKind::kTraining, "training");
  add(WorkloadKind::kProfile, "profile");
  add(WorkloadKind::kCollective, "collective");
  add(WorkloadKind::kTransfers, "transfers");
  add(WorkloadKind::kPipeline, "pipeline");
  add(WorkloadKind::kFederated, "federated");
  add(WorkloadKind::kRecording, "recording");
  return text;
}

}  // namespace gradwire::scenarios
