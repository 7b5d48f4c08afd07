# Installs the codecs to a fresh folder, builds a program against that, and runs it.
file(REMOVE_RECURSE ${WORK})
if(SANITIZE)
  set(flags "${FLAGS} -fsanitize=${SANITIZE}")
else()
  set(flags "${FLAGS}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BINARY} --component compressors --prefix ${WORK}/installed
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G Ninja
                -DCMAKE_PREFIX_PATH=${WORK}/installed -DCMAKE_CXX_COMPILER=${COMPILER}
                "-DCMAKE_CXX_FLAGS=${flags}" -DCMAKE_BUILD_TYPE=Release
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/build/consumer COMMAND_ERROR_IS_FATAL ANY)
