#include "scenarios/fields/docs.h"

#include "scenarios/checks/combinations.h"
#include "scenarios/document/pointer.h"
#include "scenarios/document/values.h"
#include "scenarios/fields/fields.h"

namespace gradwire::scenarios {
namespace {

constexpr const char* kIntroduction = R"(# Scenario files

<!-- Rendered from the table of fields in scenarios/; a test compares this page with it. -->

A scenario file says what to run: a workload, a method, the machines, the network between them and an
executor. It is JSON (RFC 8259). Every object is closed: a key that is not listed here is an error, never
ignored. Quantities are texts with a unit (`"1Gbps"`, `"50us"`, `"25MB"`); a bare number is refused where a
unit is needed. Bits and bytes (`Gbps`, `GBps`), decimal and binary prefixes (`MB` = 10^6 B, `MiB` = 2^20 B)
never mix silently.

```json
{ "$schema": "./schema.json", "schema_version": 1, "name": "lossy-terngrad",
  "workload": { "model": "lenet5", "data": { "set": "digits" }, "batch_per_worker": 64, "steps": 200 },
  "method":   { "name": "terngrad" },
  "cluster":  { "workers": 8 },
  "network":  { "link": { "bandwidth": "1Gbps", "delay": "50us", "loss": 0.01 } },
  "seeds":    [1, 2, 3],
  "sweep":    { "/method/name": ["none", "terngrad"] } }
```

All problems of a file are reported at once, before anything runs, one line each:
`file:line: /pointer: what is wrong; allowed: ...; did you mean "..."?`

The workload's kind follows from the key that it has: `model` (really trained; the default), `profile` (a
table of layers stands in for a model), `collective` (one collective, no training), `transfers` (an explicit
list), `pipeline` (stages and micro-batches) or `federated` (rounds of sampled clients with a deadline). Only one of them may stand in a file. `--set /pointer=value` replaces a value of the file, or a sweep's
axis; the text is read as JSON if it parses, else as a string. Paths are relative to the scenario file.

Two runs with the same hash compute the same thing: it is taken over the resolved scenario (all defaults
filled in, quantities in one canonical form) without `$schema`, `name`, `description`, `seeds`, `sweep` and
`expected`.
)";

constexpr const char* kSweep = R"(
## /sweep

An object of JSON pointers, each with the values that it takes:

| form | values |
|---|---|
| `[a, b, ...]` | these; whole objects too: `"/method": [{"name": "none"}, {"name": "topk", "ratio": 0.01}]` |
| `{"range": [from, to, step]}` | from, from + step, ... up to and including to; numbers or texts with a unit |
| `{"log_range": [from, to, count]}` | `count` values evenly spaced in the logarithm, both ends included |

Axes are crossed: the first varies slowest, seeds fastest. Beside the pointers there may stand

- `"zip": true`: all axes step together and must have equally many values; `"zip": ["/a", "/b"]`: these two step
  together, the other axes are crossed with them;
- `"exclude": [{"/a": 1, "/b": [2, 3]}, ...]`: a combination that fits every value of one of the objects does not
  run; a list means any of its values.

Every run is checked as if it stood in a file of its own. A file expands to 100,000 runs at most.

Runs that differ in `/executor` or in the rates, delays, losses, traces or transport of `/network` alone learn alike
where learning does not heed time: they are trained once, and the others send what the first has trained (a note of
theirs says whose that is). Rounds, asynchronous and late workers, pipelines, `udp-lossy` and `collective: auto` train
for themselves.
)";

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

std::string type_text(const Field& field) {
  switch (field.shape) {
    case Shape::kObject:
      return "object";
    case Shape::kList:
      return "list";
    case Shape::kMap:
      return "object, free keys";
    case Shape::kSweep:
      return "object";
    case Shape::kValue:
      break;
  }
  return field.spec.type == OptionType::kChoice ? "" : allowed_of(field);
}

std::string default_text(const Field& field) {
  if (field.required) return "required";
  if (!field.computed_default.empty()) return field.computed_default;
  return field.spec.default_text.empty() ? "" : "`" + field.spec.default_text + "`";
}

std::string remarks(const Field& field) {
  std::string text = field.spec.help;
  if (!field.unit.empty()) text += " Unit: " + field.unit + ".";
  if (field.when)
    text += " Only where `" + field.when->pointer + "` is " + field.when->values_text("`") + ".";
  if (field.kinds != kAllKinds) text += " Workloads: " + kinds_text(field.kinds) + ".";
  return text;
}

std::string choices_text(const Field& field) {
  std::string text = type_text(field);
  if (field.shape == Shape::kValue && field.spec.type == OptionType::kChoice)
    for (const std::string& choice : field.spec.choices)
      text += (text.empty() ? "`" : ", `") + (choice == "\t" ? "\\t" : choice) + "`";
  return text;
}

std::string row(const Field& field) {
  return "| `" + field.pointer + "` | " + escaped(choices_text(field)) + " | " +
         escaped(default_text(field)) + " | " + escaped(remarks(field)) + " |\n";
}

}  // namespace

std::string scenario_docs() {
  const std::string head =
      "\n| field | type, allowed values | default | meaning |\n|---|---|---|---|\n";
  std::string page = kIntroduction;
  page += "\n## Head and runs\n" + head;
  for (const Field& field : scenario_table().fields())
    if (pointer_tokens(field.pointer).size() == 1 &&
        (field.shape == Shape::kValue || field.pointer == "/seeds"))
      page += row(field);
  page += "\n`*` in a field stands for an item's number in a list.\n";
  std::string section;
  for (const Field& field : scenario_table().fields()) {
    const std::vector<std::string> tokens = pointer_tokens(field.pointer);
    if (field.shape == Shape::kSweep) page += kSweep;
    if (tokens.size() == 1 && field.shape == Shape::kObject) {
      section = tokens[0];
      page += "\n## " + field.pointer + "\n\n" + remarks(field) + "\n" + head;
    } else if (tokens.size() > 1 && tokens[0] == section && !field.repeated) {
      page += row(field);
    }
  }
  page += "\n## What does not go together\n\nRefused by `validate`, from one table:\n";
  return page + combinations_docs();
}

}  // namespace gradwire::scenarios
