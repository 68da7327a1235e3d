#include "net/engine.h"

#include <dlfcn.h>

#include <filesystem>

#include "base/check.h"

namespace symbind::net {
namespace {

constexpr const char* kFile = "libsymbind_dist.so";

/// The folder of this library.
std::filesystem::path here() {
  Dl_info facts{};
  dladdr(reinterpret_cast<const void*>(&engine), &facts);
  return std::filesystem::path(facts.dli_fname == nullptr ? "" : facts.dli_fname).parent_path();
}

const Engine* open_engine() {
  const std::filesystem::path path = here() / kFile;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* text = dlerror();
    const std::string why = text == nullptr ? "" : text;
    fail(ErrorKind::kNotImplemented,
         "distributed stores need {}, which cannot be opened: {}\n  fix:  install libgrpc++-dev, "
         "libprotobuf-dev and protobuf-compiler-grpc (tools/install_packages --dist) and build "
         "Symbind from its source again; a wheel has it if tools/wheel --dist made it",
         kFile, why);
  }
  using Entry = const Engine* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "symbind_dist_engine"));
  check(entry != nullptr, ErrorKind::kState, "{} is not a part of Symbind", path.string());
  const Engine* found = entry();
  check(found->version == std::string(SYMBIND_VERSION), ErrorKind::kState,
        "{} belongs to Symbind {}, this is {}", path.string(), found->version, SYMBIND_VERSION);
  return found;
}

}  // namespace

const Engine& engine() {
  static const Engine* const opened = open_engine();
  return *opened;
}

}  // namespace symbind::net
