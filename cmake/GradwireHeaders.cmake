# Precompiled headers, one for each set of options that several libraries have in common. Builds of some
# folders alone may be made where there is no JSON library.
if(NOT GRADWIRE_FOLDERS)
  gradwire_header_package(nlohmann_json 3.11 nlohmann_json::nlohmann_json nlohmann/json.hpp)
  set(headers ${gradwire_standard_headers} <nlohmann/json.hpp>)
  gradwire_shared_headers(usual_headers HEADERS ${headers} LIBRARIES nlohmann_json::nlohmann_json)
  gradwire_shared_headers(quick_headers FOR gradwire_compile_quickly HEADERS ${headers}
                          LIBRARIES nlohmann_json::nlohmann_json)
endif()
