// What the sanitizers do unless the environment says otherwise: a report has a stack, an allocation
// over 1 GB is one.

// NOLINTBEGIN(bugprone-reserved-identifier): the sanitizers' own names
extern "C" const char* __asan_default_options() {
  return "max_allocation_size_mb=1024:allocator_may_return_null=1:detect_leaks=0:"
         "hard_rss_limit_mb=4096:handle_abort=1";
}
extern "C" const char* __ubsan_default_options() { return "print_stacktrace=1"; }
// NOLINTEND(bugprone-reserved-identifier)
