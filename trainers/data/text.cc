#include <array>

#include "base/gzip.h"
#include "trainers/data/data_set.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

constexpr int kSequence = 32;
constexpr std::size_t kFewestSamples = 20;

}  // namespace

DataSet load_text(const std::string& file) {
  DataSet data;
  data.name = "text";
  data.sequence = kSequence;
  data.tokens = read_maybe_gzip(file);
  // The last character of the last sample is a target only.
  const std::size_t samples = data.tokens.empty() ? 0 : (data.tokens.size() - 1) / kSequence;
  if (samples < kFewestSamples) {
    throw TrainerError(
        "read text", file,
        data.tokens.empty() ? "it is empty"
                            : "it has " + std::to_string(data.tokens.size()) + " bytes",
        "give a text of at least " + std::to_string(kFewestSamples * kSequence + 1) + " bytes");
  }
  std::array<int, 256> index{};
  for (const std::uint8_t byte : data.tokens) index[byte] = 1;
  for (int& entry : index) entry = entry ? data.classes++ : 0;
  for (std::uint8_t& token : data.tokens) token = static_cast<std::uint8_t>(index[token]);
  split_in_order(data, samples - samples / 10, samples);
  return data;
}

}  // namespace gradwire::trainers
