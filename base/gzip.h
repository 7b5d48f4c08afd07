#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gradwire {

/// Inflates one gzip stream. `subject` names it in errors; throws Error(kFailure) saying at which
/// compressed byte it is damaged or ends too early, or that the program was built without zlib.
std::vector<std::uint8_t> gunzip(std::span<const std::uint8_t> packed, const std::string& subject);

/// `bytes`, inflated if they start with the gzip magic.
std::vector<std::uint8_t> maybe_gunzip(std::span<const std::uint8_t> bytes,
                                       const std::string& subject);

/// The contents of `path`, inflated if it starts with the gzip magic. Throws Error.
std::vector<std::uint8_t> read_maybe_gzip(const std::string& path);

/// `path` or `path`.gz, whichever exists (the plain one first); empty if neither does.
std::string find_plain_or_gzip(const std::string& path);

}  // namespace gradwire
