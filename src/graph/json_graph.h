#pragma once
// A symbol file between its text and its nodes: what was written, ids instead of pointers, so that
// files of older versions can be upgraded before immutable nodes are made.

#include <string_view>
#include <vector>

#include "graph/node.h"

namespace symbind {

inline constexpr int kJsonVersion = 10901;  ///< MXNet 1.9.1: written, and read unchanged
inline constexpr int kOldestVersion = 800;  ///< of a file without a version

struct JsonEntry {
  std::int64_t node = 0, index = 0;
};

struct JsonNode {
  std::string op, name;
  AttrDict attrs;
  std::vector<JsonEntry> inputs;
  const OpDef* def = nullptr;          ///< null for a variable
  std::shared_ptr<const void> parsed;  ///< set by upgrade()
  std::vector<JsonNode> added_inputs;  ///< variables the file omits; they follow `inputs`

  std::string title() const;
};

struct JsonGraph {
  int version = kOldestVersion;
  bool is_np_shape = false;     ///< whether its shapes follow NumPy's convention
  std::vector<JsonNode> nodes;  ///< every input comes before its users
  std::vector<JsonEntry> heads;
};

/// Reads any dialect. Throws kIo if the text is not a symbol, kName for unknown operators.
JsonGraph read_json_graph(std::string_view text);

/// Brings a file of any version to the present one and parses every operator's attributes.
void upgrade(JsonGraph& graph);

}  // namespace symbind
