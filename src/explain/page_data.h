#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace symbind {

/// A page of cmake/embed_page.cmake with its data. Every '<' in them is escaped, so no name can end
/// the script element.
std::string page_with_data(const char* page, const nlohmann::ordered_json& data);
/// Without line ends; bytes that are not UTF-8 are replaced.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace symbind
