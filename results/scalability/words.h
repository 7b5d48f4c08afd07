#pragma once
#include <string>
#include <vector>

#include "results/scalability/scalability.h"

/// The scalability report's sentences: each follows from figures of the Scalability.
namespace gradwire::results {

/// "How far does ... scale?"
std::string question_of(const Scalability& all);
/// Three sentences: what was reached, how far it goes, what to do.
std::vector<std::string> short_answer(const Scalability& all);
/// What to do, the most useful first, each with its figure.
std::vector<std::string> recommendations(const Scalability& all);
/// What is known of the accuracy of each series that compresses.
std::vector<std::string> accuracy_notes(const Scalability& all);
/// What has to hold for that.
std::vector<std::string> assumptions_of(const Scalability& all);
/// "errors are against Gradwire's own simulator": the points of all fits; empty without fits.
std::string error_words(const Scalability& all);
/// How good the predictions are on runs that were held back, in a sentence; where nothing could be
/// held back, that.
std::string validation_words(const Scalability& all);

}  // namespace gradwire::results
