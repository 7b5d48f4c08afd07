gradwire_test(compressors_frame SOURCES frame_test.cc LIBRARIES gradwire::compressors LABELS unit)
