# `cmake --install build/release --prefix DIR`: programs, their modules, shipped scenarios, the scripts
# that fetch wheels, the manual page and completions (both printed by the program itself). Each
# COMPONENT is a Debian package (cmake/GradwirePackages.cmake). Nothing installed names a folder of the
# machine that built it: LibTorch and ns-3 are found by base/program_part.h.
include(GNUInstallDirs)
set(modules_folder lib/gradwire)

# gradwire_install(component folder target...): without the run paths of the build.
function(gradwire_install component folder)
  foreach(target ${ARGN})
    if(NOT TARGET ${target})
      continue()
    endif()
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "" INSTALL_RPATH_USE_LINK_PATH OFF)
    install(TARGETS ${target} RUNTIME DESTINATION ${folder} COMPONENT ${component}
            LIBRARY DESTINATION ${folder} COMPONENT ${component})
    # What target_link_options() told the linker stays after CMake's own change.
    install(CODE "file(RPATH_REMOVE FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}/$<TARGET_FILE_NAME:${target}>\")"
            COMPONENT ${component})
  endforeach()
endfunction()
gradwire_install(program ${CMAKE_INSTALL_BINDIR} gradwire gradwire-emulator-hub)
gradwire_install(program ${modules_folder} gradwire_trainers_module gradwire_emulator_module gradwire_cuda_module)
gradwire_install(program ${CMAKE_INSTALL_LIBDIR} gradwire_codecs)
gradwire_install(packet ${CMAKE_INSTALL_BINDIR} gradwire-packet)
gradwire_install(gui ${CMAKE_INSTALL_BINDIR} gradwire-gui)
gradwire_install(mpi ${CMAKE_INSTALL_BINDIR} gradwire-mpi)
gradwire_install(bench ${modules_folder} gradwire_bench_module gradwire_bench_torch gradwire_bench_training)

set(share ${CMAKE_INSTALL_DATADIR}/gradwire)
install(DIRECTORY scenarios/ DESTINATION ${share}/scenarios COMPONENT program
        FILES_MATCHING PATTERN "*.json" PATTERN "published/*.csv" PATTERN "*.up" PATTERN "*.down" PATTERN "*.gz"
        PATTERN "traces/README.md" PATTERN "data/README.md"
        REGEX "scenarios/(build|checks|document|fields|kernels|networks)$" EXCLUDE)  # sources alone
install(DIRECTORY python/ DESTINATION ${share}/python COMPONENT program PATTERN __pycache__ EXCLUDE)
install(PROGRAMS scripts/install-wheels DESTINATION ${share}/scripts COMPONENT program)
install(FILES scripts/progress scripts/unpack_wheels.py scripts/wheels-training.txt scripts/wheels-packet.txt
        scripts/wheels-gpu.txt DESTINATION ${share}/scripts COMPONENT program)
if(TARGET gradwire)
  install(CODE [[
    set(share "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/share")
    # print(file argument...): what the program prints.
    function(print file)
      get_filename_component(folder ${share}/${file} DIRECTORY)
      file(MAKE_DIRECTORY ${folder})
      execute_process(COMMAND "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/bin/gradwire" ${ARGN}
                      OUTPUT_FILE ${share}/${file} COMMAND_ERROR_IS_FATAL ANY)
    endfunction()
    print(man/man1/gradwire.1 man)
    print(bash-completion/completions/gradwire completion bash)
    print(zsh/vendor-completions/_gradwire completion zsh)
    print(fish/vendor_completions.d/gradwire.fish completion fish)
  ]] COMPONENT program)
endif()
if(TARGET gradwire-gui)
  install(FILES gui/desktop/gradwire-gui.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications COMPONENT gui)
  install(FILES gui/desktop/gradwire.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps COMPONENT gui)
  install(FILES gui/desktop/gradwire.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages COMPONENT gui)
endif()

# The codecs alone, for other programs: find_package(gradwire COMPONENTS compressors). Needs no
# LibTorch. `cmake --install build/release --component compressors --prefix DIR` installs only this.
if(TARGET gradwire_compressors)
  include(CMakePackageConfigHelpers)
  foreach(library base codec_parts model_codecs compressors)
    target_compile_features(gradwire_${library} PUBLIC cxx_std_20)
    target_include_directories(gradwire_${library} INTERFACE
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/gradwire>)
    install(TARGETS gradwire_${library} EXPORT gradwire_compressors_targets
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT compressors)
  endforeach()
  foreach(folder base compressors)
    install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gradwire COMPONENT compressors
            FILES_MATCHING PATTERN "*.h" PATTERN kernels EXCLUDE PATTERN cuda EXCLUDE
            PATTERN codecs EXCLUDE PATTERN layout EXCLUDE PATTERN field_text.h EXCLUDE PATTERN payload.h EXCLUDE
            PATTERN ranges.h EXCLUDE PATTERN residual.h EXCLUDE PATTERN selection_candidates.h EXCLUDE
            PATTERN selection_rank.h EXCLUDE PATTERN tensor_moments.h EXCLUDE)
  endforeach()
  # What a module with methods of one's own needs (docs/adding-a-method.md).
  if(TARGET gradwire_methods)
    target_compile_features(gradwire_methods PUBLIC cxx_std_20)
    target_include_directories(gradwire_methods INTERFACE
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/gradwire>)
    install(TARGETS gradwire_methods EXPORT gradwire_compressors_targets
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT compressors)
    install(FILES trainers/methods/catalogue.h trainers/methods/method.h
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gradwire/trainers/methods COMPONENT compressors)
    install(FILES trainers/moment.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gradwire/trainers COMPONENT compressors)
    install(FILES trainers/passes/pass_options.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gradwire/trainers/passes
            COMPONENT compressors)
  endif()
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/gradwire)
  install(EXPORT gradwire_compressors_targets NAMESPACE gradwire:: DESTINATION ${package}
          COMPONENT compressors)
  configure_package_config_file(cmake/gradwireConfig.cmake.in ${CMAKE_BINARY_DIR}/gradwireConfig.cmake
                                INSTALL_DESTINATION ${package})
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/gradwireConfigVersion.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/gradwireConfig.cmake ${CMAKE_BINARY_DIR}/gradwireConfigVersion.cmake
          DESTINATION ${package} COMPONENT compressors)
endif()

# Each package's licence, where Debian has it; gradwire-packet links ns-3 (docs/licences.md).
set(package_names program gradwire packet gradwire-packet gui gradwire-gui mpi gradwire-mpi bench gradwire-bench
    compressors gradwire-dev)
while(package_names)
  list(POP_FRONT package_names component name)
  install(FILES docs/licences.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component})
  set(licence LICENSE)
  if(component STREQUAL packet)
    set(licence sim/packet/COPYING)
  endif()
  install(FILES ${licence} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} RENAME copyright COMPONENT ${component})
endwhile()
