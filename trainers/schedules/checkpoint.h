#pragma once
#include <functional>
#include <iosfwd>

/// How a trainer's content is kept: u64 magic, then blocks (block_stream.h), of which one at a time
/// is in memory.
namespace gradwire::trainers {

/// Throws TrainerError where writing fails.
void save_checked(std::ostream& out, const std::function<void(std::ostream&)>& save);
/// Throws TrainerError for what is damaged, of another version, or longer than `load` reads.
void load_checked(std::istream& in, const std::function<void(std::istream&)>& load);

}  // namespace gradwire::trainers
