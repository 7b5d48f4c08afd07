# `cmake --install build/release --prefix DIR`: programs, the training module, shipped scenarios, the
# manual page and completions (both printed by the program itself). LibTorch and ns-3 stay where they
# are: the programs' run paths name them.
include(GNUInstallDirs)
foreach(program gradwire gradwire-gui gradwire-packet gradwire-emulator-hub)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
if(TARGET gradwire_trainers_module)
  install(TARGETS gradwire_trainers_module LIBRARY DESTINATION lib)
endif()
install(DIRECTORY scenarios/ DESTINATION ${CMAKE_INSTALL_DATADIR}/gradwire/scenarios FILES_MATCHING PATTERN "*.json")
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
