list(APPEND compressors_sources crc32c.cc frame.cc)
