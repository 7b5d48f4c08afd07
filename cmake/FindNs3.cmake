# ns-3 3.44 from the PyPI wheel, unpacked under GRADWIRE_DEPS, or the user's own: Ns3_ROOT names a
# folder with include/ns3 and lib64/ (or lib/). The wheel's own CMake package names folders of the
# machine that built it, hence this file.
#
# Targets: Ns3::<module> for each module below that is there (hyphens become underscores, as in
# Ns3::point_to_point), and Ns3::headers. ns-3 is GPL-2.0-only: link it into programs of their own.
set(Ns3_VERSION 3.44)
set(Ns3_ROOT "${GRADWIRE_DEPS}/ns3/ns3" CACHE PATH "ns-3 ${Ns3_VERSION}: folder with include/ and lib64/")
find_path(Ns3_INCLUDE_DIR ns3/core-module.h PATHS ${Ns3_ROOT}/include NO_DEFAULT_PATH)
foreach(module core stats network bridge traffic-control internet point-to-point csma mobility
               propagation spectrum antenna energy buildings wifi lte virtual-net-device
               fd-net-device tap-bridge flow-monitor)
  string(REPLACE "-" "_" name ${module})
  find_library(Ns3_${name}_LIBRARY NAMES ns${Ns3_VERSION}-${module} ns${Ns3_VERSION}-${module}-optimized
               PATHS ${Ns3_ROOT}/lib64 ${Ns3_ROOT}/lib NO_DEFAULT_PATH)
  mark_as_advanced(Ns3_${name}_LIBRARY)
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Ns3 REQUIRED_VARS Ns3_core_LIBRARY Ns3_internet_LIBRARY
                                  Ns3_point_to_point_LIBRARY Ns3_INCLUDE_DIR VERSION_VAR Ns3_VERSION)

function(gradwire_ns3_module name library)
  if(NOT library OR TARGET Ns3::${name})
    return()
  endif()
  add_library(Ns3::${name} SHARED IMPORTED GLOBAL)
  set_target_properties(Ns3::${name} PROPERTIES IMPORTED_LOCATION "${library}"
                        INTERFACE_LINK_LIBRARIES Ns3::headers)
endfunction()

if(Ns3_FOUND AND NOT TARGET Ns3::headers)
  add_library(Ns3::headers INTERFACE IMPORTED GLOBAL)
  get_filename_component(Ns3_LIBRARY_DIR "${Ns3_core_LIBRARY}" DIRECTORY)
  set_target_properties(Ns3::headers PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${Ns3_INCLUDE_DIR}"
    # As the libraries themselves were compiled: these two change the layout of ns-3's classes.
    INTERFACE_COMPILE_DEFINITIONS "NS3_LOG_ENABLE;NS3_ASSERT_ENABLE"
    # Modules nobody asked for may miss libraries that this machine lacks (GTK and the like).
    INTERFACE_LINK_OPTIONS "LINKER:--allow-shlib-undefined;LINKER:-rpath,${Ns3_LIBRARY_DIR};LINKER:-rpath-link,${Ns3_LIBRARY_DIR}")
  foreach(module core stats network bridge traffic_control internet point_to_point csma mobility
                 propagation spectrum antenna energy buildings wifi lte virtual_net_device
                 fd_net_device tap_bridge flow_monitor)
    gradwire_ns3_module(${module} "${Ns3_${module}_LIBRARY}")
  endforeach()
endif()
