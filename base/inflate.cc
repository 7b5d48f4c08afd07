#include <zlib.h>

#include "base/error.h"
#include "base/gzip.h"

namespace gradwire {
namespace {

/// Owns zlib's inflate state. Move-only in spirit: a copy would free it twice.
class Inflater {
 public:
  Inflater() {
    // 16 + 15: gzip wrapper, largest window.
    GRADWIRE_ASSERT(inflateInit2(&stream_, 16 + 15) == Z_OK);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

}  // namespace

std::vector<std::uint8_t> gunzip(std::span<const std::uint8_t> packed, const std::string& subject) {
  Inflater inflater;
  z_stream& stream = inflater.stream();
  stream.next_in = const_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  std::vector<std::uint8_t> plain;
  std::vector<std::uint8_t> block(1 << 16);
  for (int status = Z_OK; status != Z_STREAM_END;) {
    stream.next_out = block.data();
    stream.avail_out = static_cast<uInt>(block.size());
    status = inflate(&stream, Z_NO_FLUSH);
    plain.insert(plain.end(), block.data(), block.data() + (block.size() - stream.avail_out));
    if (status == Z_OK || status == Z_STREAM_END) continue;
    const std::string at = " at compressed byte " + std::to_string(stream.total_in);
    if (status == Z_BUF_ERROR) {
      throw Error(ErrorKind::kFailure, "inflate", subject, "the gzip stream is cut off" + at,
                  "fetch the file again");
    }
    throw Error(ErrorKind::kFailure, "inflate", subject,
                std::string("the gzip stream is damaged") + at + " (" +
                    (stream.msg ? stream.msg : "no detail") + ")",
                "fetch the file again");
  }
  return plain;
}

}  // namespace gradwire
