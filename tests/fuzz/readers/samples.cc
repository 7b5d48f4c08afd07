#include "base/gzip.h"
#include "tests/fuzz/readers/groups.h"
#include "tests/fuzz/readers/inputs.h"

#include <cstring>

#include "base/temporary_file.h"
#include "trainers/data/data_set.h"

namespace gradwire::testing {
namespace {

using trainers::DataChoice;

bool loads(std::span<const std::byte> bytes, const char* set,
           const std::map<std::string, std::string>& options = {}) {
  const TemporaryFile file(text_of(bytes));
  return takes([&] { trainers::load_data_set(DataChoice{set, file.path(), options}); });
}

Inputs csv_seeds() {
  return {bytes_of("a,b,kind\n1,2.5,big\n-3,\"4\",small\n50,6,big\n7,8,small\n1,1,big\n"),
          bytes_of("0.5,x\n1.5,y\n2,x\n3,y\n4,x\n"), bytes_of("a b kind\r1  2.5 x\r-3\t4 y\r"),
          bytes_of("1;2.5;x\n2;3;y\n")};
}
bool read_csv(std::span<const std::byte> bytes) {
  return loads(bytes, "csv");
}

Inputs raw_seeds() {
  return {
      bytes_of("gradwire-data 1\nsamples 5\nshape 1 2 2\nvalues u8\nclasses 2\n\n"
               "abcdefghijklmnopqrst" +
               std::string("\0\1\0\1\0", 5))};
}
bool read_raw(std::span<const std::byte> bytes) {
  return loads(bytes, "raw");
}

/// Two images of 2 x 1 pixels, and two labels.
Inputs idx_seeds() {
  const std::string head("\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x01", 16);
  const std::string labels("\0\0\x08\x01\0\0\0\x02\x01\x07", 10);
  return {bytes_of(head + "abcd"), bytes_of(labels)};
}
bool read_idx(std::span<const std::byte> bytes) {
  const TemporaryFile file(text_of(bytes));
  const bool images = takes([&] { trainers::read_idx_images(file.path()); });
  return takes([&] { trainers::read_idx_labels(file.path(), 10); }) || images;
}

Inputs text_seeds() {
  return {bytes_of("To be, or not to be, that is the question: " + std::string(2000, 'x'))};
}
bool read_text(std::span<const std::byte> bytes) {
  const TemporaryFile file(text_of(bytes));
  return takes([&] { trainers::load_text(file.path()); });
}

Inputs gzip_seeds() {
  const auto digits = std::as_bytes(trainers::embedded_digits());
  return {{digits.begin(), digits.end()}};
}
bool read_gzip(std::span<const std::byte> bytes) {
  return takes([&] {
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
    gunzip({begin, bytes.size()}, "a file");
  });
}

constexpr Reader kReaders[] = {
    {"samples-csv", csv_seeds, read_csv},    {"samples-raw", raw_seeds, read_raw},
    {"samples-idx", idx_seeds, read_idx},    {"samples-text", text_seeds, read_text},
    {"samples-gzip", gzip_seeds, read_gzip},
};

}  // namespace

std::span<const Reader> sample_readers() {
  return kReaders;
}

}  // namespace gradwire::testing
