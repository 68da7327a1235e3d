# Every outside library, found once. None of their headers reaches include/symbind.

find_package(Threads REQUIRED)
if(SYMBIND_OPENMP)
  find_package(OpenMP REQUIRED COMPONENTS CXX)
endif()
# manylinux systems have some libz, so auditwheel does not add one to a wheel; we link it statically.
if(SKBUILD)
  set(ZLIB_USE_STATIC_LIBS ON)
endif()
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED CONFIG)
find_package(nlohmann_json REQUIRED CONFIG)

# OpenBLAS: its OpenMP build, so that it shares one thread pool with oneDNN and our own loops.
find_path(SYMBIND_CBLAS_INCLUDE cblas.h
    PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp openblas-openmp openblas REQUIRED)
find_library(SYMBIND_OPENBLAS openblas PATH_SUFFIXES openblas-openmp REQUIRED)
add_library(symbind_blas INTERFACE)
target_include_directories(symbind_blas SYSTEM INTERFACE "${SYMBIND_CBLAS_INCLUDE}")
target_link_libraries(symbind_blas INTERFACE "${SYMBIND_OPENBLAS}")

# Highway: vectors of every instruction set from one source. Headers only, see src/kernels/vector/targets.h.
find_path(SYMBIND_HIGHWAY_INCLUDE hwy/highway.h REQUIRED)
add_library(symbind_highway INTERFACE)
target_include_directories(symbind_highway SYSTEM INTERFACE "${SYMBIND_HIGHWAY_INCLUDE}")

# oneDNN is a component: Debian's package configuration asks for OpenCL, so look for the files.
set(SYMBIND_HAVE_ONEDNN 0)
if(SYMBIND_ONEDNN)
  find_path(SYMBIND_DNNL_INCLUDE dnnl.hpp)
  find_library(SYMBIND_DNNL dnnl)
  if(SYMBIND_DNNL_INCLUDE AND SYMBIND_DNNL)
    set(SYMBIND_HAVE_ONEDNN 1)
    add_library(symbind_onednn INTERFACE)
    target_include_directories(symbind_onednn SYSTEM INTERFACE "${SYMBIND_DNNL_INCLUDE}")
    target_link_libraries(symbind_onednn INTERFACE "${SYMBIND_DNNL}")
  else()
    message(STATUS "oneDNN was not found: building without it")
  endif()
endif()

# gRPC, with protobuf and OpenSSL, is a component: the plugin of distributed stores.
set(SYMBIND_HAVE_DIST 0)
if(SYMBIND_DIST)
  find_package(Protobuf QUIET)
  find_package(gRPC QUIET CONFIG)
  find_package(OpenSSL QUIET)
  if(Protobuf_FOUND AND gRPC_FOUND AND OPENSSL_FOUND AND TARGET gRPC::grpc_cpp_plugin)
    set(SYMBIND_HAVE_DIST 1)
  else()
    message(STATUS "gRPC was not found: building without distributed stores")
  endif()
endif()

# CUDA is a component as well.
set(SYMBIND_HAVE_CUDA 0)
if(SYMBIND_CUDA)
  if(NOT CMAKE_CUDA_COMPILER AND EXISTS "/usr/local/cuda/bin/nvcc")
    set(CMAKE_CUDA_COMPILER "/usr/local/cuda/bin/nvcc")
  endif()
  set(CMAKE_CUDA_ARCHITECTURES "${SYMBIND_CUDA_ARCHITECTURES}")
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  set(SYMBIND_HAVE_CUDA 1)
  add_library(symbind_cuda INTERFACE)
  # Not the driver: a library linked against it would not load where there is none. device/cuda
  # asks for its calls at run time.
  target_link_libraries(symbind_cuda INTERFACE CUDA::cudart CUDA::cublasLt)
endif()

if(SYMBIND_TESTS)
  find_package(GTest REQUIRED)
  find_path(SYMBIND_RANDOM123_INCLUDE Random123/philox.h REQUIRED)
endif()
if(SYMBIND_PROGRAMS)
  find_package(CLI11 QUIET)
endif()
