# The window at scale factor 2 has twice the pixels: cmake -DSAMPLES=... -DMAKER=... -DFOLDER=... -P
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${SAMPLES} ${FOLDER}/runs.db 24 COMMAND_ERROR_IS_FATAL ANY)
set(ENV{QT_QPA_PLATFORM} offscreen)
# Width and height of a PNG stand in its bytes 16 to 23.
foreach(scale 1 2)
  set(ENV{QT_SCALE_FACTOR} ${scale})
  execute_process(COMMAND ${MAKER} ${FOLDER}/runs.db ${FOLDER}/${scale}.png --size 1300x700
                  COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET ERROR_QUIET)
  file(READ ${FOLDER}/${scale}.png size_${scale} OFFSET 16 LIMIT 8 HEX)
endforeach()
if(NOT size_1 STREQUAL "00000514000002bc" OR NOT size_2 STREQUAL "00000a2800000578")
  message(FATAL_ERROR "pictures are not 1300 x 700 and 2600 x 1400 pixels: ${size_1}, ${size_2}")
endif()
file(SIZE ${FOLDER}/1.png bytes_1)
file(SIZE ${FOLDER}/2.png bytes_2)
# A picture that was only blown up has hardly more to say.
math(EXPR more "${bytes_2} * 10 / ${bytes_1}")
if(more LESS 15)
  message(FATAL_ERROR "the picture at scale 2 has ${bytes_2} bytes, that at 1 has ${bytes_1}: it was blown up")
endif()
