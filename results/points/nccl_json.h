#pragma once
#include <string>
#include <string_view>

namespace gradwire::results {

/// Whether a text is what nccl-tests write with `-J FILE` (their src/util.cu, version 1).
bool is_nccl_json(std::string_view text);

/// The lines that the test prints beside that file, as nccl_log.h reads them: the program, a line a
/// rank, the columns' names, a line a size. Throws Error: no JSON, or not of that form.
std::string nccl_table_of_json(std::string_view text, const std::string& file);

}  // namespace gradwire::results
