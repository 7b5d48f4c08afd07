#pragma once
#include <string>

namespace gradwire::cli {

/// Prints the page to `pdf`, on A4, by a browser of this machine (Chromium, Chrome or Edge), which
/// reaches no network meanwhile. Throws Error: kCapability where there is none, kFailure where it
/// does not write the file within a minute.
void write_pdf(const std::string& page, const std::string& pdf);

}  // namespace gradwire::cli
