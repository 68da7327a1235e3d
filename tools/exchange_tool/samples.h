#pragma once

#include <map>
#include <string>

#include <symbind/symbol.h>

struct Sample {
  symbind::Symbol symbol;
  symbind::ShapeMap shapes;  ///< from which the rest is inferred
};

/// Symbols that between them use what a file can hold: groups, shared nodes, states, attributes.
std::map<std::string, Sample> sample_symbols();
/// Writes `<folder>/<name>.params`: dictionary and list, every dtype, every rank, nothing.
void write_sample_arrays(const std::string& folder);
