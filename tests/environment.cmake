# What ctest's tests find in their environment.
# Without a sanitizer nobody reads these. A request for more memory than there is must reach our own error; what the
# thread and leak sanitizers must not report, with the reason, is in their files.
set(ENV{ASAN_OPTIONS} allocator_may_return_null=1)
set(ENV{LSAN_OPTIONS} suppressions=${CMAKE_CURRENT_LIST_DIR}/sanitizers/lsan.supp:print_suppressions=0)
set(ENV{TSAN_OPTIONS} allocator_may_return_null=1:suppressions=${CMAKE_CURRENT_LIST_DIR}/sanitizers/tsan.supp)
set(ENV{OMP_WAIT_POLICY} passive)  # threads that wait do so asleep: tests share machines
