// ATTEND_ASAN and ATTEND_TSAN are 1 in builds with the address or thread sanitizer, and 0 otherwise. GCC and Clang
// define different macros for this.
#pragma once

#if defined(__has_feature)
#define ATTEND_HAS_FEATURE(name) __has_feature(name)
#else
#define ATTEND_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || ATTEND_HAS_FEATURE(address_sanitizer)
#define ATTEND_ASAN 1
#else
#define ATTEND_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || ATTEND_HAS_FEATURE(thread_sanitizer)
#define ATTEND_TSAN 1
#else
#define ATTEND_TSAN 0
#endif
