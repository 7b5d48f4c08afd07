#include "scenarios/data_sets.h"

#include <algorithm>

namespace gradwire::scenarios {
namespace {

OptionSpec count_option(std::string name, std::string usual, std::string help, double min = 1,
                        double max = 1e7) {
  return {.name = std::move(name),
          .type = OptionType::kInteger,
          .default_text = std::move(usual),
          .help = std::move(help),
          .min = min,
          .max = max};
}

/// Options of a generated set: training and held-out samples.
OptionTable sample_counts(const char* train, const char* held_out) {
  return {count_option("samples", train, "Training samples."),
          count_option("held_out", held_out, "Held-out samples, drawn apart from the others.")};
}

OptionTable with(OptionTable table, OptionSpec option) {
  table.push_back(std::move(option));
  return table;
}

OptionSpec sigma_option() {
  return {.name = "sigma",
          .type = OptionType::kNumber,
          .default_text = "1",
          .help = "Standard deviation of the noise on each pixel; the pattern's own is 1.",
          .min = 0,
          .max = 1000};
}

OptionSpec path_option(std::string name, std::string help) {
  return {.name = std::move(name), .type = OptionType::kText, .help = std::move(help)};
}

OptionSpec normalise_option() {
  return {.name = "normalise",
          .type = OptionType::kBoolean,
          .default_text = "true",
          .help =
              "Shift and scale numbers to mean 0 and deviation 1 over the training samples: "
              "each feature, or each channel of images."};
}

/// Which of a user's own samples are held out.
OptionTable own_files() {
  return {{.name = "held_out",
           .type = OptionType::kNumber,
           .default_text = "0.2",
           .help = "Share of the samples that is held out, where there is no `held_out_path`.",
           .min = 0,
           .max = 1,
           .min_exclusive = true,
           .max_exclusive = true},
          path_option("held_out_path", "A second file, whose samples are held out.")};
}

OptionTable csv_options() {
  OptionTable table = own_files();
  table.push_back({.name = "label",
                   .type = OptionType::kText,
                   .help = "The column of the class: its name in the first line, or its number "
                           "from 1 on; without it, the last."});
  table.push_back({.name = "separator",
                   .type = OptionType::kChoice,
                   .default_text = "auto",
                   .help = "What stands between the columns, by its name or as it is; auto: what "
                           "the first two lines say.",
                   .choices = {"auto", "comma", "semicolon", "tab", "blanks", ",", ";", "\t"}});
  table.push_back(normalise_option());
  return table;
}

OptionTable idx_options() {
  OptionTable table = own_files();
  table.push_back(path_option("labels", "The file with the labels of `path`; needed."));
  table.push_back(path_option("held_out_labels", "The file with the labels of `held_out_path`."));
  return table;
}

std::vector<DataSetInfo> make_data_sets() {
  using enum SampleKind;
  return {
      {"digits",
       kImage,
       DataFiles::kNone,
       "1,797 handwritten digits of 8x8 pixels, built in",
       {},
       "",
       true},
      {"mnist",
       kImage,
       DataFiles::kShipped,
       "handwritten digits of 28x28 pixels, a folder with MNIST's IDX files; without a path the "
       "10,000 test images, which ship",
       {},
       "data/mnist",
       true},
      {"cifar10", kImage, DataFiles::kRequired,
       "photographs of 32x32 pixels, a folder with the binary version"},
      {"text",
       kText,
       DataFiles::kShipped,
       "a text, character by character; without a path 1.1 MB of Shakespeare, which ship",
       {},
       "data/shakespeare.txt.gz"},
      {"csv", kNumbers, DataFiles::kRequired, "a table of numbers, one column of it the class",
       csv_options()},
      {"idx", kImage, DataFiles::kRequired, "images in MNIST's format", idx_options()},
      {"raw", kImage, DataFiles::kRequired, "an array with a header of text lines",
       with(own_files(), normalise_option())},
      {"gaussian-clusters", kNumbers, DataFiles::kNone,
       "30 centres in 64 dimensions, each coordinate drawn from N(0, 0.55^2); a sample is a centre "
       "drawn at random plus N(0, 1) in each coordinate, its class the centre's number mod 10",
       sample_counts("8000", "2000")},
      {"sparse-linear", kNumbers, DataFiles::kNone,
       "16,384 features, of which 40 are drawn for each sample by Zipf's law with exponent 1.1 (a "
       "feature's value is how often it was drawn, over sqrt(40)); the class is the sign of a "
       "linear function with weights from N(0, 1)",
       sample_counts("6000", "2000")},
      {"glyph", kImage, DataFiles::kNone,
       "10 classes of 16x16 pixels: one smooth pattern a class, shifted by up to 2 pixels each "
       "way, "
       "scaled by 0.7 to 1.3, with noise",
       with(sample_counts("4000", "4000"), sigma_option())},
      {"markov",
       kText,
       DataFiles::kNone,
       "50 tokens; the next one is drawn by the last one and the last but one mod 5, 5 % of the "
       "time "
       "from all tokens, else from 6 of them with Dirichlet(0.7) weights",
       {count_option("tokens", "60000", "Training tokens, in sequences of 32.", 640),
        count_option("held_out_tokens", "10000", "Held-out tokens.", 32)}},
      {"sparse-logit", kNumbers, DataFiles::kNone,
       "1,000 features, of which a sample has each with probability 5 %, from N(0, 1); 30 of them "
       "have weights from N(0, 1.5^2), and the class is drawn by the logistic model with twice the "
       "weighted sum",
       sample_counts("4000", "1000")},
  };
}

std::vector<ModelInfo> make_models() {
  using enum SampleKind;
  return {
      {"logistic", {kNumbers, kImage}, "one linear layer; on two classes one output", 1},
      {"mlp", {kNumbers, kImage}, "dense layers", 3, 2},
      {"lenet5", {kImage}, "two convolutions and two dense layers", 4},
      {"cnn",
       {kImage},
       "convolutions of 3x3 with a ReLU, every other one pooled by 2, and a dense layer",
       4,
       3},
      {"resnet20", {kImage}, "20 layers with batch normalisation", 11},
      {"char-lstm", {kText}, "an embedding, an LSTM and a linear layer", 3},
      {"transformer", {kText}, "a causal transformer of 0.8 million parameters", 6, 4},
      {"torchscript", {kNumbers, kImage, kText}, "your own, from the file /workload/model_file"},
  };
}

template <class Row>
const Row* find_row(const std::vector<Row>& rows, std::string_view name) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

const std::vector<DataSetInfo>& data_set_catalogue() {
  static const std::vector<DataSetInfo> rows = make_data_sets();
  return rows;
}

const std::vector<ModelInfo>& model_catalogue() {
  static const std::vector<ModelInfo> rows = make_models();
  return rows;
}

bool is_path_option(std::string_view name) {
  return name == "held_out_path" || name == "labels" || name == "held_out_labels";
}

const DataSetInfo* find_data_set(std::string_view name) {
  return find_row(data_set_catalogue(), name);
}
const ModelInfo* find_model(std::string_view name) {
  return find_row(model_catalogue(), name);
}

int stages_of(const ModelInfo& model, const std::optional<std::vector<std::int64_t>>& hidden) {
  if (!hidden || model.hidden_stages == 0) return model.stages;
  return model.stages - model.hidden_stages + static_cast<int>(hidden->size());
}

std::vector<std::string> data_set_names(bool (*which)(const DataSetInfo&)) {
  std::vector<std::string> names;
  for (const DataSetInfo& row : data_set_catalogue())
    if (!which || which(row)) names.push_back(row.name);
  return names;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const ModelInfo& row : model_catalogue()) names.push_back(row.name);
  return names;
}

bool takes(const ModelInfo& model, const DataSetInfo& data) {
  return std::find(model.takes.begin(), model.takes.end(), data.kind) != model.takes.end();
}

}  // namespace gradwire::scenarios
