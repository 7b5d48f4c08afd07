#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace gradwire::results {

/// Whether a text is what nccl-tests write with `-J FILE` (their src/util.cu, versions 1 to 3).
bool is_nccl_json(std::string_view text);

/// The lines that the tests print beside such files, as nccl_log.h reads them: the program, ranks a
/// process, a line a rank (of each process the first, as the file has them), the columns' names, a
/// line a size. Throws Error: no JSON, or not of that form.
/// `unread`: what stands beside the documents.
std::string nccl_table_of_json(std::string_view text, const std::string& file,
                               std::vector<std::string>& unread);

}  // namespace gradwire::results
