# The plugin of distributed stores: the only part that links gRPC, protobuf and OpenSSL. The library
# opens it at the first use and looks for it in its own folder.
if(NOT SYMBIND_HAVE_DIST)
  return()
endif()

set(proto "${PROJECT_SOURCE_DIR}/src/net/grpc/dist.proto")
set(generated "${PROJECT_BINARY_DIR}/generated/dist")
set(generated_files "${generated}/dist.pb.cc" "${generated}/dist.grpc.pb.cc")
file(MAKE_DIRECTORY "${generated}")
add_custom_command(OUTPUT ${generated_files} "${generated}/dist.pb.h" "${generated}/dist.grpc.pb.h"
    COMMAND protobuf::protoc "--cpp_out=${generated}" "--grpc_out=${generated}"
            "--plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin>"
            -I "${PROJECT_SOURCE_DIR}/src/net/grpc" "${proto}"
    DEPENDS "${proto}" VERBATIM)

# Connections between processes, without gRPC: the tests link them as well, because the plugin's symbols
# are hidden.
file(GLOB tcp_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/net/auth/*.cpp"
    "${PROJECT_SOURCE_DIR}/src/net/tcp/*.cpp")
add_library(symbind_tcp OBJECT ${tcp_sources})
target_link_libraries(symbind_tcp PUBLIC symbind symbind_internal OpenSSL::Crypto Threads::Threads)
symbind_unity(symbind_tcp 20 ${tcp_sources})

file(GLOB dist_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/net/grpc/*.cpp")
add_library(symbind_dist SHARED ${dist_sources} ${generated_files})
target_include_directories(symbind_dist SYSTEM PRIVATE "${generated}")
target_link_libraries(symbind_dist PRIVATE symbind_tcp gRPC::grpc++ protobuf::libprotobuf)
set_target_properties(symbind_dist PROPERTIES INSTALL_RPATH "$ORIGIN")
set_target_properties(symbind_tcp symbind_dist PROPERTIES
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
set_source_files_properties(${generated_files} PROPERTIES COMPILE_OPTIONS "-w")
symbind_unity(symbind_dist 20 ${dist_sources})
