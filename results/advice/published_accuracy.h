#pragma once
#include <limits>
#include <string>
#include <string_view>
#include <vector>

/// What authors published of a method's accuracy: scenarios/published/accuracy.csv, which names the
/// source of each row.
namespace gradwire::results {

struct PublishedAccuracy {
  std::string method;            ///< the codec's name
  std::string settings;          ///< "ratio=0.001"; empty: the source says nothing of options
  std::string model;             ///< name of a shipped layer table where there is one
  std::string data_set, figure;  ///< "ImageNet", "top-1"
  /// Shares; NaN where the source shows curves alone.
  double uncompressed = std::numeric_limits<double>::quiet_NaN();
  double compressed = std::numeric_limits<double>::quiet_NaN();
  std::string workers, note, source;
  bool second_hand = false;  ///< read in a summary, not in the authors' text

  bool has_figures() const { return uncompressed == uncompressed; }
  double difference() const { return compressed - uncompressed; }
};

/// Throws Error naming line and column.
std::vector<PublishedAccuracy> read_published_accuracy(std::string_view csv,
                                                       const std::string& file);

/// Whether the options of /method (JSON) are those of the row; a row without settings fits all.
bool same_settings(const PublishedAccuracy& row, const std::string& method_json);
/// "alexnet" for a question about alexnet or alexnet-grouped.
bool same_model(const PublishedAccuracy& row, const std::string& model);

/// What is published of a method, in one clause: of this model and these options where there is
/// any, else of the others, with the range of differences and the sources.
std::string published_words(const std::vector<PublishedAccuracy>& rows, const std::string& method,
                            const std::string& method_json, const std::string& model);

}  // namespace gradwire::results
