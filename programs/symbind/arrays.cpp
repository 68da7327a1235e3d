// Which reader and writer a path gets.

#include "arrays.h"

#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include <symbind/interrupt.h>
#include <symbind/model.h>
#include <symbind/settings.h>

#include "program.h"

namespace symbind::program {
namespace {

bool is_params(const std::string& path) {
  return path.ends_with(".params") || path.ends_with(".nd");
}

[[noreturn]] void fail_reading(const std::string& path, int code) {
  fail(ErrorKind::kIo,
       fmt::format("cannot read '{}': {}", path, std::generic_category().message(code)));
}

}  // namespace

std::string read_file(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) fail_reading(path, errno);
  if (S_ISDIR(info.st_mode)) fail_reading(path, EISDIR);
  const std::string limit = setting("SYMBIND_LIMIT_FILE_BYTES");
  std::uint64_t most = 0;
  std::from_chars(limit.data(), limit.data() + limit.size(), most);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) fail_reading(path, errno);
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(std::max<off_t>(0, info.st_size)) + 1);
  std::string block(std::size_t{1} << 20, '\0');
  for (;;) {
    const std::size_t count = std::fread(block.data(), 1, block.size(), file.get());
    bytes.append(block, 0, count);
    if (bytes.size() > most)
      fail(ErrorKind::kIo,
           fmt::format("'{}' has more than {} bytes; SYMBIND_LIMIT_FILE_BYTES raises the limit",
                       path, most));
    if (count < block.size()) break;
  }
  if (std::ferror(file.get()) != 0) fail_reading(path, errno);
  return bytes;
}

void write_file_guarded(const std::string& path, std::string_view bytes) {
  {
    const DeferInterrupts guard(DeferInterrupts::kWrite);
    write_file(path, bytes);
  }
  if (interrupt_recorded()) throw Interrupted();
}

NamedArrays read_arrays(const std::string& path) {
  if (path.ends_with(".safetensors")) return parse_safetensors(read_file(path), path);
  if (path.ends_with(".npz")) return parse_npz(read_file(path), path);
  if (path.ends_with(".npy")) return {{""}, {parse_npy(read_file(path), path)}};
  return load(path);
}

bool has_array_ending(const std::string& path) {
  return is_params(path) || path.ends_with(".npy") || path.ends_with(".npz") ||
         path.ends_with(".safetensors");
}

void write_arrays(const std::string& path, const NamedArrays& arrays) {
  if (path.ends_with(".safetensors")) return write_file_guarded(path, safetensors_bytes(arrays));
  if (path.ends_with(".npz")) return write_file_guarded(path, npz_bytes(arrays));
  if (path.ends_with(".npy")) {
    if (arrays.arrays.size() != 1)
      fail(ErrorKind::kValue,
           fmt::format("cannot write {} arrays to '{}': a .npy file holds one; use .npz",
                       arrays.arrays.size(), path));
    return write_file_guarded(path, npy_bytes(arrays.arrays.front()));
  }
  if (!is_params(path))
    throw UsageError(fmt::format("cannot tell the format of '{}': use {}", path, kArrayEndings));
  bool named = false;
  for (const std::string& name : arrays.names) named = named || !name.empty();
  {
    const DeferInterrupts guard(DeferInterrupts::kWrite);
    if (named)
      save_in_order(path, arrays);
    else
      save(path, arrays.arrays);
  }
  if (interrupt_recorded()) throw Interrupted();
}

std::string_view raw_bytes(const NDArray& array) {
  array.wait_to_read();
  return {static_cast<const char*>(array.data()), array.nbytes()};
}

std::uint64_t checked_bytes(const Shape& shape, DType dtype, const std::string& where) {
  std::uint64_t bytes = size_of(dtype);
  for (const std::int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes))
      fail(ErrorKind::kIo, fmt::format("{}: the shape {} is too large", where, shape.str()));
  }
  return bytes;
}

}  // namespace symbind::program
