#include "tests/fuzz/readers.h"

#include "base/error.h"
#include "tests/fuzz/readers/groups.h"

namespace gradwire::testing {

std::span<const Reader> readers() {
  static const std::vector<Reader> all = [] {
    std::vector<Reader> list;
    for (const auto group :
         {scenario_readers, table_readers, state_readers, message_readers, sample_readers})
      list.insert(list.end(), group().begin(), group().end());
    return list;
  }();
  return all;
}

const Reader& reader_named(const std::string& name) {
  std::string names;
  for (const Reader& reader : readers()) {
    if (name == reader.name) return reader;
    names.append(names.empty() ? "" : ", ").append(reader.name);
  }
  throw Error(ErrorKind::kUsage, "fuzz the reader", name, "there is none of that name",
              "readers: " + names);
}

}  // namespace gradwire::testing
