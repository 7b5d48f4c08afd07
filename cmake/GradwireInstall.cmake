# `cmake --install build/release --prefix DIR`: programs, their modules, shipped scenarios, the
# manual page and completions (both printed by the program itself). LibTorch and ns-3 stay where they
# are: the programs' run paths name them.
include(GNUInstallDirs)
foreach(program gradwire gradwire-gui gradwire-packet gradwire-emulator-hub gradwire-mpi)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
foreach(module gradwire_trainers_module gradwire_emulator_module gradwire_bench_module gradwire_cuda_module
        gradwire_bench_torch gradwire_bench_training)
  if(TARGET ${module})
    install(TARGETS ${module} LIBRARY DESTINATION lib)
  endif()
endforeach()
install(DIRECTORY scenarios/ DESTINATION ${CMAKE_INSTALL_DATADIR}/gradwire/scenarios FILES_MATCHING PATTERN "*.json" PATTERN "published/*.csv"
        PATTERN "*.up" PATTERN "*.down" PATTERN "*.gz" PATTERN "traces/README.md" PATTERN "data/README.md")
if(TARGET gradwire)
  install(CODE [[
    set(destination "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
    set(program "${destination}/bin/gradwire")
    file(MAKE_DIRECTORY ${destination}/share/man/man1 ${destination}/share/bash-completion/completions
         ${destination}/share/zsh/site-functions ${destination}/share/fish/vendor_completions.d)
    execute_process(COMMAND ${program} man OUTPUT_FILE ${destination}/share/man/man1/gradwire.1 COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${program} completion bash OUTPUT_FILE ${destination}/share/bash-completion/completions/gradwire COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${program} completion zsh OUTPUT_FILE ${destination}/share/zsh/site-functions/_gradwire COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${program} completion fish OUTPUT_FILE ${destination}/share/fish/vendor_completions.d/gradwire.fish COMMAND_ERROR_IS_FATAL ANY)
  ]])
endif()

# The codecs alone, for other programs: find_package(gradwire COMPONENTS compressors). Needs no
# LibTorch. `cmake --install build/release --component compressors --prefix DIR` installs only this.
if(TARGET gradwire_compressors)
  include(CMakePackageConfigHelpers)
  foreach(library base compressors)
    target_compile_features(gradwire_${library} PUBLIC cxx_std_20)
    target_include_directories(gradwire_${library} INTERFACE
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/gradwire>)
    install(TARGETS gradwire_${library} EXPORT gradwire_compressors_targets
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT compressors)
    install(DIRECTORY ${library} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gradwire COMPONENT compressors
            FILES_MATCHING PATTERN "*.h" PATTERN kernels EXCLUDE PATTERN cuda EXCLUDE
            PATTERN codecs EXCLUDE PATTERN field_text.h EXCLUDE PATTERN payload.h EXCLUDE
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
