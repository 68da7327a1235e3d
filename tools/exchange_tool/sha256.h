#pragma once

#include <cstddef>
#include <span>
#include <string>

/// SHA-256 (FIPS 180-4) as 64 hexadecimal digits.
std::string sha256(std::span<const std::byte> bytes);
