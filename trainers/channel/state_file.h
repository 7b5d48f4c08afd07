#pragma once
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/units.h"

namespace gradwire::trainers {

/// A file for states of one size, in a folder. It has no name there and goes away with its owner,
/// or with the process, however that ends. Places that are given back are used again, the first
/// one first, so that it is never longer than the states that lay in it at a time. Made when
/// something is first written. Used by one thread at a time.
class StateFile {
 public:
  StateFile(std::string folder, std::size_t state_bytes, std::string what = "clients' states")
      : folder_(std::move(folder)), what_(std::move(what)), state_bytes_(state_bytes) {}

  /// Gives its place. Throws TrainerError naming the folder where it cannot be written; what lies
  /// there already stays readable.
  std::int64_t write(std::span<const std::byte> state);
  /// Throws TrainerError where it cannot be read, or is not what was written.
  void read(std::int64_t place, std::span<std::byte> state) const;
  void give_back(std::int64_t place) { free_.insert(place); }
  /// How long it is.
  Bytes length() const { return Bytes(static_cast<std::int64_t>(hashes_.size() * state_bytes_)); }
  /// For tests; -1 before something is written.
  int descriptor() const { return file_.get(); }

 private:
  void open();

  std::string folder_, what_;
  std::size_t state_bytes_;
  FileDescriptor file_;
  std::vector<std::uint64_t> hashes_;  ///< [place]
  std::set<std::int64_t> free_;
};

}  // namespace gradwire::trainers
