list(APPEND compressors_sources codec_plan.cc decorators/clip.cc decorators/rules.cc)
