#pragma once
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "scenarios/scenario.h"

/// Tables of fields: one row describes a field of a file once, and the reader, the JSON Schema, the
/// documentation page, `params`, `--set` and the desktop program's form derive from that row.
namespace gradwire::scenarios {

enum class Shape {
  kValue,   ///< one value, described by `spec`
  kObject,  ///< closed object: its fields are the rows below it
  kList,    ///< list; its items are described by the row(s) at "<pointer>/*"
  kMap,     ///< object with free keys; its values are described by the row(s) at "<pointer>/*"
  kSweep,   ///< the sweep block; see scenarios/sweep.h
};

/// A set of workload kinds.
using KindMask = unsigned;
constexpr KindMask mask_of(WorkloadKind kind) {
  return 1u << static_cast<unsigned>(kind);
}
inline constexpr KindMask kAllKinds = (1u << kWorkloadKeys.size()) - 1;

/// A field applies only where the choice at `pointer` is one of `values`; a "*" in it stands for
/// what stands there in the field's own pointer.
struct Condition {
  std::string pointer;
  std::vector<std::string> values;

  /// The values in words, `quote` around each: "star or torus".
  std::string values_text(const char* quote = "") const;
};

struct Field {
  std::string pointer;  ///< "*" stands for a list's index or a map's key
  Shape shape = Shape::kValue;
  OptionSpec spec = {};   ///< name = last token; `help` is used for every shape
  std::string unit = {};  ///< of plain numbers: "samples", "steps"
  bool required = false;
  bool optional = false;    ///< objects: not filled with defaults where absent
  bool identifier = false;  ///< texts: letters, digits, ".", "_" and "-" only, not empty
  bool sweepable = true;
  /// Choices that others of their kind would expect: refused with this reason instead of as
  /// unknown.
  std::vector<std::pair<std::string, std::string>> refused_choices = {};
  bool repeated = false;      ///< explained at another row; the documentation page leaves it out
  bool free_of_hash = false;  ///< says nothing about what a run computes
  KindMask kinds = kAllKinds;
  std::optional<Condition> when = {};
  std::string computed_default = {};  ///< in words, where the default depends on other fields
  double suspicious_below = -std::numeric_limits<double>::infinity();  ///< in the base unit
  double suspicious_above = std::numeric_limits<double>::infinity();
  std::string suspicious_why = {};  ///< what such a value usually means
};

class FieldTable {
 public:
  /// A place in the file. Several rows may share one (options of different codecs).
  struct Node {
    std::string key;
    std::string pointer;
    std::vector<const Field*> fields;
    std::vector<std::unique_ptr<Node>> children;

    const Field& field() const { return *fields.front(); }
    const Node* child(std::string_view name) const;  ///< exact key, else "*", else null
  };

  /// Rows in file order; a row's parents come before it. The first row is the root (pointer "").
  explicit FieldTable(std::vector<Field> fields);
  FieldTable(const FieldTable&) = delete;  // nodes point into fields_
  FieldTable& operator=(const FieldTable&) = delete;

  const std::vector<Field>& fields() const { return fields_; }
  const Node& root() const { return root_; }
  /// The place of a concrete pointer ("/network/links/0/loss") or a pattern; null if there is none.
  const Node* find(std::string_view pointer) const;
  /// The pattern nearest to an unknown pointer, or empty.
  std::string nearest_pointer(std::string_view pointer) const;

 private:
  std::vector<Field> fields_;
  Node root_;
};

/// The fields of scenario files, with the options of every codec of compressors::codec_catalogue().
const FieldTable& scenario_table();
/// The fields of profiles (scenarios/profiles/profile.h).
const FieldTable& device_profile_table();
const FieldTable& workload_profile_table();

/// "training, profile": the kinds of a mask, in words.
std::string kinds_text(KindMask kinds);

}  // namespace gradwire::scenarios
