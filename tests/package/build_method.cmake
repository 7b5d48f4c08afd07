# Installs the headers to a fresh folder, builds a method of one's own against them, and asks the
# program for it: list, schema, checks, training, and what a method that is not there gives.
file(REMOVE_RECURSE ${WORK})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BINARY} --component compressors --prefix ${WORK}/installed
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G Ninja -DMETHOD_SOURCE=${METHOD}
                -DCMAKE_PREFIX_PATH=${WORK}/installed -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=Release
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

# expect(CODE TEXT argument...): the program ends with CODE and says TEXT.
function(expect code text)
  execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE result)
  string(FIND "${out}${err}" "${text}" at)
  if(NOT result EQUAL code OR at EQUAL -1)
    message(FATAL_ERROR "gradwire ${ARGN}: exit code ${result}, wanted ${code} and \"${text}\":\n${out}${err}")
  endif()
endfunction()

set(scenario ${WORK}/scenario.json)
file(WRITE ${scenario} [[{
  "schema_version": 1, "name": "own-method",
  "workload": {"model": "mlp", "data": {"set": "digits"}, "batch_per_worker": 16, "steps": 25,
               "optimizer": {"name": "sgd", "lr": 0.05}, "evaluate_every": 25},
  "cluster": {"workers": 2, "device": "reference-cpu"},
  "method": {"name": "decaying-topk", "start": 0.5, "halve_every": 5}
}]])
# Without the module nobody knows it.
expect(3 "decaying-topk" validate ${scenario})

set(ENV{GRADWIRE_METHODS} ${WORK}/build/libdecaying_topk.so)
expect(0 "momentum at the server" methods decaying-topk)
expect(0 "\"decaying-topk\"" schema)
expect(0 "" validate ${scenario})
expect(3 "halve_every" run ${scenario} --set /method/halve_every=0 --print-config)
if(TRAINS)
  expect(0 "\"status\": \"finished\"" run ${scenario} --db ${WORK}/own.db --no-report --format json)
endif()

# A module that is not one is named.
set(ENV{GRADWIRE_METHODS} ${WORK}/scenario.json)
expect(5 "scenario.json" methods)
