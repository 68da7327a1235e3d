#pragma once
// Files of arrays: .params of MXNet, .npy and .npz of NumPy, .safetensors.
//
// Readers check every length before they use it; a damaged or hostile file is an Error kIo that
// names the path. Writers replace a file whole or not at all.

#include <cstdint>
#include <string>
#include <string_view>

#include <symbind/ndarray.h>

namespace symbind::program {

/// The whole file; kIo if it cannot be read or is beyond SYMBIND_LIMIT_FILE_BYTES.
std::string read_file(const std::string& path);
/// Replaces the file; an interrupt waits until it is written and is then raised.
void write_file_guarded(const std::string& path, std::string_view bytes);

/// Any of the formats, recognised by contents and by how the path ends. Files without names
/// (.npy, lists) give empty names.
NamedArrays read_arrays(const std::string& path);
/// The format follows from how the path ends; UsageError for another ending.
void write_arrays(const std::string& path, const NamedArrays& arrays);
/// The endings write_arrays knows, as text for messages.
inline constexpr const char* kArrayEndings = ".params, .nd, .npy, .npz or .safetensors";
bool has_array_ending(const std::string& path);

/// One array in NumPy's format; `where` opens messages.
NDArray parse_npy(std::string_view bytes, const std::string& where);
std::string npy_bytes(const NDArray& array);
NamedArrays parse_npz(std::string_view bytes, const std::string& path);
std::string npz_bytes(const NamedArrays& arrays);
NamedArrays parse_safetensors(std::string_view bytes, const std::string& path);
std::string safetensors_bytes(const NamedArrays& arrays);

/// The bytes of an array as they are in memory, row by row.
std::string_view raw_bytes(const NDArray& array);
/// Elements and bytes of a shape from a file; kIo if they overflow.
std::uint64_t checked_bytes(const Shape& shape, DType dtype, const std::string& where);

}  // namespace symbind::program
