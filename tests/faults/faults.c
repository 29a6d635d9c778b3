// A library for LD_PRELOAD that makes one system call on files under a folder fail, or kills the process there.
// Settings are variables of the environment:
//   FAULTS_UNDER  the folder; other files are left alone
//   FAULTS_LOG    a file, outside the folder, that gets one line a call: its number, its name and its path
//   FAULTS_AT     the number of the call to disturb, counted from 1
//   FAULTS_KIND   enospc, eio, erofs, eintr: the call fails with this error
//                 short: a write writes only half of its bytes; other calls are left alone
//                 full: from this call on, everything that needs space fails with ENOSPC
//                 kill-before, kill-after: SIGKILL before or after the call
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum Fault { kNone, kError, kShort, kKillAfter };

static long count = 0;  // the program is run with one thread
static int busy = 0;    // a call made by this library itself

// The next function of this name: that of the C library.
#define REAL(result, name, ...)                              \
  typedef result (*name##_type)(__VA_ARGS__);                \
  static name##_type real_##name(void) {                     \
    static name##_type found;                                \
    if (!found) *(void**)(&found) = dlsym(RTLD_NEXT, #name); \
    return found;                                            \
  }

REAL(int, open, const char*, int, ...)
REAL(int, open64, const char*, int, ...)
REAL(int, openat, int, const char*, int, ...)
REAL(int, openat64, int, const char*, int, ...)
REAL(FILE*, fopen, const char*, const char*)
REAL(FILE*, fopen64, const char*, const char*)
REAL(ssize_t, write, int, const void*, size_t)
REAL(ssize_t, pwrite, int, const void*, size_t, off_t)
REAL(ssize_t, pwrite64, int, const void*, size_t, off64_t)
REAL(ssize_t, writev, int, const struct iovec*, int)
REAL(ssize_t, sendfile, int, int, off_t*, size_t)
REAL(ssize_t, copy_file_range, int, off64_t*, int, off64_t*, size_t, unsigned)
REAL(int, fsync, int)
REAL(int, fdatasync, int)
REAL(int, ftruncate, int, off_t)
REAL(int, ftruncate64, int, off64_t)
REAL(int, rename, const char*, const char*)
REAL(int, renameat, int, const char*, int, const char*)
REAL(int, link, const char*, const char*)
REAL(int, unlink, const char*)
REAL(int, unlinkat, int, const char*, int)
REAL(int, remove, const char*)
REAL(int, rmdir, const char*)
REAL(int, mkdir, const char*, mode_t)

static int is_under(const char* path) {
  const char* folder = getenv("FAULTS_UNDER");
  if (!folder) return 0;
  const size_t length = strlen(folder);
  return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/// The absolute path of a name relative to an open folder.
static void full_path(char* path, int folder, const char* name) {
  char base[PATH_MAX] = "", link[64];
  if (name[0] != '/') {
    snprintf(link, sizeof(link), folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
    const ssize_t length = readlink(link, base, sizeof(base) - 2);
    if (length > 0) base[length] = '/', base[length + 1] = '\0';
  }
  snprintf(path, PATH_MAX, "%.2000s%.2000s", base, name);
}

static void path_of(char* path, int file) {
  char link[64];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, PATH_MAX - 1);
  path[length > 0 ? length : 0] = '\0';
}

/// Counts a call and decides what happens to it. `space`: it needs space on the disk; `interruptible`: it may give
/// EINTR.
static enum Fault next(const char* name, const char* path, int space, int interruptible) {
  if (busy || !is_under(path)) return kNone;
  ++count;
  const char *log = getenv("FAULTS_LOG"), *at = getenv("FAULTS_AT"), *kind = getenv("FAULTS_KIND");
  if (log) {
    busy = 1;
    char line[PATH_MAX + 64];
    const int length = snprintf(line, sizeof(line), "%ld %s %s\n", count, name, path);
    const int file = real_open()(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file >= 0 && real_write()(file, line, (size_t)length) < 0) abort();
    close(file);
    busy = 0;
  }
  if (!at || !kind) return kNone;
  const long wanted = atol(at);
  if (strcmp(kind, "full") == 0) {
    if (count < wanted || !space) return kNone;
    errno = ENOSPC;
    return kError;
  }
  if (count != wanted) return kNone;
  if (strcmp(kind, "kill-before") == 0) raise(SIGKILL);
  if (strcmp(kind, "kill-after") == 0) return kKillAfter;
  if (strcmp(kind, "short") == 0) return kShort;
  if (strcmp(kind, "eintr") == 0 && !interruptible) return kNone;
  errno = strcmp(kind, "enospc") == 0  ? ENOSPC
          : strcmp(kind, "eio") == 0   ? EIO
          : strcmp(kind, "erofs") == 0 ? EROFS
                                       : EINTR;
  return kError;
}

/// Does a call, or what was decided for it.
#define DO(result, failed, fault, call)    \
  do {                                     \
    const enum Fault now = fault;          \
    if (now == kError) return failed;      \
    result value = call;                   \
    if (now == kKillAfter) raise(SIGKILL); \
    return value;                          \
  } while (0)

static int writes(int flags) { return (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0; }

#define OPEN(name)                                                          \
  int name(const char* path, int flags, ...) {                              \
    va_list rest;                                                           \
    va_start(rest, flags);                                                  \
    const mode_t mode = (flags & O_CREAT) ? va_arg(rest, mode_t) : 0;       \
    va_end(rest);                                                           \
    char full[PATH_MAX];                                                    \
    full_path(full, AT_FDCWD, path);                                        \
    if (!writes(flags)) return real_##name()(path, flags, mode);            \
    DO(int, -1, next(#name, full, 1, 0), real_##name()(path, flags, mode)); \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                \
  int name(int folder, const char* path, int flags, ...) {                          \
    va_list rest;                                                                   \
    va_start(rest, flags);                                                          \
    const mode_t mode = (flags & O_CREAT) ? va_arg(rest, mode_t) : 0;               \
    va_end(rest);                                                                   \
    char full[PATH_MAX];                                                            \
    full_path(full, folder, path);                                                  \
    if (!writes(flags)) return real_##name()(folder, path, flags, mode);            \
    DO(int, -1, next(#name, full, 1, 0), real_##name()(folder, path, flags, mode)); \
  }
OPENAT(openat)
OPENAT(openat64)

#define FOPEN(name)                                                             \
  FILE* name(const char* path, const char* mode) {                              \
    char full[PATH_MAX];                                                        \
    full_path(full, AT_FDCWD, path);                                            \
    if (mode[0] == 'r' && !strchr(mode, '+')) return real_##name()(path, mode); \
    DO(FILE*, NULL, next(#name, full, 1, 0), real_##name()(path, mode));        \
  }
FOPEN(fopen)
FOPEN(fopen64)

#define WRITE(name, parameters, file, size, call, half) \
  ssize_t name parameters {                             \
    char path[PATH_MAX];                                \
    path_of(path, file);                                \
    const enum Fault now = next(#name, path, 1, 1);     \
    if (now == kError) return -1;                       \
    if (now == kShort && (size) > 1) return half;       \
    const ssize_t value = call;                         \
    if (now == kKillAfter) raise(SIGKILL);              \
    return value;                                       \
  }
WRITE(write, (int file, const void* bytes, size_t size), file, size, real_write()(file, bytes, size),
      real_write()(file, bytes, size / 2))
WRITE(pwrite, (int file, const void* bytes, size_t size, off_t at), file, size, real_pwrite()(file, bytes, size, at),
      real_pwrite()(file, bytes, size / 2, at))
WRITE(pwrite64, (int file, const void* bytes, size_t size, off64_t at), file, size,
      real_pwrite64()(file, bytes, size, at), real_pwrite64()(file, bytes, size / 2, at))
WRITE(writev, (int file, const struct iovec* parts, int size), file, size, real_writev()(file, parts, size),
      real_writev()(file, parts, size / 2))
WRITE(sendfile, (int file, int from, off_t* at, size_t size), file, size, real_sendfile()(file, from, at, size),
      real_sendfile()(file, from, at, size / 2))
WRITE(copy_file_range, (int from, off64_t* at, int file, off64_t* to, size_t size, unsigned flags), file, size,
      real_copy_file_range()(from, at, file, to, size, flags),
      real_copy_file_range()(from, at, file, to, size / 2, flags))

#define ON_FILE(name, parameters, call, space)      \
  int name parameters {                             \
    char path[PATH_MAX];                            \
    path_of(path, file);                            \
    DO(int, -1, next(#name, path, space, 1), call); \
  }
ON_FILE(fsync, (int file), real_fsync()(file), 0)
ON_FILE(fdatasync, (int file), real_fdatasync()(file), 0)
ON_FILE(ftruncate, (int file, off_t size), real_ftruncate()(file, size), 0)
ON_FILE(ftruncate64, (int file, off64_t size), real_ftruncate64()(file, size), 0)

#define ON_PATH(name, parameters, folder, path, call, space) \
  int name parameters {                                      \
    char full[PATH_MAX];                                     \
    full_path(full, folder, path);                           \
    DO(int, -1, next(#name, full, space, 0), call);          \
  }
ON_PATH(rename, (const char* from, const char* to), AT_FDCWD, to, real_rename()(from, to), 0)
ON_PATH(renameat, (int a, const char* from, int b, const char* to), b, to, real_renameat()(a, from, b, to), 0)
ON_PATH(link, (const char* from, const char* to), AT_FDCWD, to, real_link()(from, to), 1)
ON_PATH(unlink, (const char* path), AT_FDCWD, path, real_unlink()(path), 0)
ON_PATH(unlinkat, (int folder, const char* path, int flags), folder, path, real_unlinkat()(folder, path, flags), 0)
ON_PATH(remove, (const char* path), AT_FDCWD, path, real_remove()(path), 0)
ON_PATH(rmdir, (const char* path), AT_FDCWD, path, real_rmdir()(path), 0)
ON_PATH(mkdir, (const char* path, mode_t mode), AT_FDCWD, path, real_mkdir()(path, mode), 1)
