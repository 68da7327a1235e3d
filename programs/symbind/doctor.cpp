#include "program.h"
namespace symbind::program {
void add_convert(CLI::App&) {}
void add_explain(CLI::App&) {}
void add_doctor(CLI::App&) {}
}  // namespace symbind::program
