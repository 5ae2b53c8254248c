// Loaded before the C library (LD_PRELOAD), notes every call that changes or syncs what lies below WRITE_TRACE_ROOT in
// the file WRITE_TRACE, in order, and makes chosen ones fail. What is written to standard error is noted too: tests say
// there what was acknowledged. Kills the process instead of the call with the number WRITE_TRACE_KILL, and says at its end
// how many calls there were. Linux only.
#define _GNU_SOURCE
#include "include/write_trace.h"

#ifdef __linux__
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static const char *root;
static int trace = -1;
static long count, failing, killing = -1;
static int failing_error, failing_short;
// By descriptor: 0 not ours, 1 ours, 2 ours and every write is synced.
static unsigned char kinds[65536];

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
    root = getenv("WRITE_TRACE_ROOT");
    const char *path = getenv("WRITE_TRACE");
    if (path) trace = REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const char *number = getenv("WRITE_TRACE_KILL");
    if (number) killing = strtol(number, NULL, 10);
}

__attribute__((destructor)) static void end(void) {
    if (killing >= 0) dprintf(2, "write-trace: %ld calls\n", count);
}

void write_trace_arm(long number, int error, int is_short) {
    pthread_mutex_lock(&lock);
    count = 0;
    failing = number;
    failing_error = error;
    failing_short = is_short;
    pthread_mutex_unlock(&lock);
}

long write_trace_count(void) { return count; }

static int is_below(const char *path) { return root && strncmp(path, root, strlen(root)) == 0; }

// The path of an entry of an open directory, and of one that is named by way of /proc/self/fd; in `room`, or as it is given.
static const char *resolved(int directory, const char *path, char room[4096]) {
    static const char by_descriptor[] = "/proc/self/fd/";
    char link[64], *rest;
    if (strncmp(path, by_descriptor, sizeof by_descriptor - 1) == 0) {
        directory = strtol(path + sizeof by_descriptor - 1, &rest, 10);
        if (*rest != '/') return path;
        path = rest + 1;
    } else if (path[0] == '/' || directory == AT_FDCWD) {
        return path;
    }
    snprintf(link, sizeof link, "%s%d", by_descriptor, directory);
    ssize_t length = readlink(link, room, 2048);
    if (length <= 0 || strlen(path) > 2000) return path;
    room[length] = '/';
    strcpy(room + length + 1, path);
    return room;
}

// A record: what, inode, offset, two lengths, then two blocks of bytes. Numbers are those of this machine.
static void note(char what, uint64_t inode, uint64_t offset, const void *first, uint32_t firstCount, const void *second,
                 uint32_t secondCount) {
    if (trace < 0) return;
    struct __attribute__((packed)) { char what; uint64_t inode, offset; uint32_t first, second; } head =
        {what, inode, offset, firstCount, secondCount};
    struct iovec parts[3] = {{&head, sizeof head}, {(void *)first, firstCount}, {(void *)second, secondCount}};
    if (REAL(writev)(trace, parts, 3) < 0) abort();
}

static void note_path(char what, uint64_t inode, const char *path, const char *other) {
    note(what, inode, 0, path, strlen(path), other ? other : "", other ? strlen(other) : 0);
}

static uint64_t inode_of(int descriptor) {
    struct stat information;
    return fstat(descriptor, &information) == 0 ? information.st_ino : 0;
}

static int is_ours(int descriptor) { return descriptor >= 0 && descriptor < 65536 ? kinds[descriptor] : 0; }

// Whether the call at hand is to fail; the lock is held. Kills the process if the call is the one for that. The call is about
// a path or, without one, a descriptor.
static int fails(const char *call, const char *path, int descriptor) {
    count += 1;
    if (killing > 0 && count == killing) {
        char link[64], room[4096] = "";
        snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
        if (!path && readlink(link, room, sizeof room - 1) > 0) path = room;
        dprintf(2, "write-trace: killed before %s %s\n", call, path ? path : "");
        kill(getpid(), SIGKILL);
        for (;;) pause();
    }
    if (failing == 0 || count != failing) return 0;
    errno = failing_error;
    return 1;
}

static int opened(int descriptor, const char *path, int flags, int was_there) {
    if (descriptor < 0 || descriptor >= 65536) return descriptor;
    kinds[descriptor] = is_below(path) ? (flags & O_DSYNC ? 2 : 1) : 0;
    if (!kinds[descriptor]) return descriptor;
    uint64_t inode = inode_of(descriptor);
    if (!was_there) note_path('c', inode, path, NULL);
    else if (flags & O_TRUNC) note('t', inode, 0, "", 0, "", 0);
    return descriptor;
}

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                       \
        va_list arguments;                                                                                             \
        va_start(arguments, flags);                                                                                    \
        mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;                                                 \
        va_end(arguments);                                                                                             \
        char room[4096];                                                                                               \
        const char *whole = resolved(AT_FDCWD, path, room);                                                            \
        pthread_mutex_lock(&lock);                                                                                     \
        int was_there = access(whole, F_OK) == 0;                                                                      \
        int result = is_below(whole) && flags & O_CREAT && !was_there && fails("the birth of", whole, -1)              \
                         ? -1                                                                                          \
                         : opened(REAL(name)(path, flags, mode), whole, flags, was_there);                             \
        pthread_mutex_unlock(&lock);                                                                                   \
        return result;                                                                                                 \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                                                   \
    int name(int directory, const char *path, int flags, ...) {                                                        \
        va_list arguments;                                                                                             \
        va_start(arguments, flags);                                                                                    \
        mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;                                                 \
        va_end(arguments);                                                                                             \
        char room[4096];                                                                                               \
        const char *whole = resolved(directory, path, room);                                                           \
        pthread_mutex_lock(&lock);                                                                                     \
        int was_there = access(whole, F_OK) == 0;                                                                      \
        int result = is_below(whole) && flags & O_CREAT && !was_there && fails("the birth of", whole, -1)              \
                         ? -1                                                                                          \
                         : opened(REAL(name)(directory, path, flags, mode), whole, flags, was_there);                  \
        pthread_mutex_unlock(&lock);                                                                                   \
        return result;                                                                                                 \
    }
OPENAT(openat)
OPENAT(openat64)

int close(int descriptor) {
    pthread_mutex_lock(&lock);
    if (descriptor >= 0 && descriptor < 65536) kinds[descriptor] = 0;
    int result = REAL(close)(descriptor);
    pthread_mutex_unlock(&lock);
    return result;
}

static ssize_t written(int descriptor, const void *bytes, ssize_t result, uint64_t offset) {
    if (result > 0) note(kinds[descriptor] == 2 ? 'W' : 'w', inode_of(descriptor), offset, bytes, result, "", 0);
    return result;
}

#define PWRITE(name, type)                                                                                             \
    ssize_t name(int descriptor, const void *bytes, size_t size, type offset) {                                        \
        pthread_mutex_lock(&lock);                                                                                     \
        ssize_t result;                                                                                                \
        if (!is_ours(descriptor)) result = REAL(name)(descriptor, bytes, size, offset);                                \
        else if (!fails("a write to", NULL, descriptor))                                                               \
            result = written(descriptor, bytes, REAL(name)(descriptor, bytes, size, offset), offset);                  \
        else if (failing_short && size > 1)                                                                            \
            result = written(descriptor, bytes, REAL(name)(descriptor, bytes, size / 2, offset), offset);              \
        else result = -1;                                                                                              \
        pthread_mutex_unlock(&lock);                                                                                   \
        return result;                                                                                                 \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t write(int descriptor, const void *bytes, size_t size) {
    if (descriptor == 2) {
        pthread_mutex_lock(&lock);
        note('a', 0, 0, bytes, size, "", 0);
        pthread_mutex_unlock(&lock);
        return REAL(write)(descriptor, bytes, size);
    }
    if (!is_ours(descriptor)) return REAL(write)(descriptor, bytes, size);
    off_t offset = lseek(descriptor, 0, SEEK_CUR);
    ssize_t result = pwrite(descriptor, bytes, size, offset);
    if (result > 0) lseek(descriptor, offset + result, SEEK_SET);
    return result;
}

#define PWRITEV(name, type)                                                                                            \
    ssize_t name(int descriptor, const struct iovec *parts, int number, type offset) {                                 \
        if (!is_ours(descriptor)) return REAL(name)(descriptor, parts, number, offset);                                \
        size_t size = 0;                                                                                               \
        for (int i = 0; i < number; i++) size += parts[i].iov_len;                                                     \
        char *bytes = malloc(size ? size : 1), *end = bytes;                                                           \
        if (!bytes) return -1;                                                                                         \
        for (int i = 0; i < number; i++) {                                                                             \
            memcpy(end, parts[i].iov_base, parts[i].iov_len);                                                          \
            end += parts[i].iov_len;                                                                                   \
        }                                                                                                              \
        ssize_t result = pwrite(descriptor, bytes, size, offset);                                                      \
        free(bytes);                                                                                                   \
        return result;                                                                                                 \
    }
PWRITEV(pwritev, off_t)
PWRITEV(pwritev64, off64_t)

ssize_t writev(int descriptor, const struct iovec *parts, int number) {
    if (!is_ours(descriptor)) return REAL(writev)(descriptor, parts, number);
    off_t offset = lseek(descriptor, 0, SEEK_CUR);
    ssize_t result = pwritev(descriptor, parts, number, offset);
    if (result > 0) lseek(descriptor, offset + result, SEEK_SET);
    return result;
}

#define TRUNCATE(name, type)                                                                                           \
    int name(int descriptor, type size) {                                                                              \
        pthread_mutex_lock(&lock);                                                                                     \
        int is_failing = is_ours(descriptor) && fails("a truncation of", NULL, descriptor);                            \
        int result = is_failing ? -1 : REAL(name)(descriptor, size);                                                   \
        if (result == 0 && is_ours(descriptor)) note('t', inode_of(descriptor), size, "", 0, "", 0);                   \
        pthread_mutex_unlock(&lock);                                                                                   \
        return result;                                                                                                 \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define SYNC(name)                                                                                                     \
    int name(int descriptor) {                                                                                         \
        pthread_mutex_lock(&lock);                                                                                     \
        int result = is_ours(descriptor) && fails("a sync of", NULL, descriptor) ? -1 : REAL(name)(descriptor);        \
        if (result == 0 && is_ours(descriptor)) note('s', inode_of(descriptor), 0, "", 0, "", 0);                      \
        pthread_mutex_unlock(&lock);                                                                                   \
        return result;                                                                                                 \
    }
SYNC(fsync)
SYNC(fdatasync)

static const char *call_name(char what) {
    switch (what) {
        case 'r': return "the renaming of";
        case 'u':
        case 'd': return "the removal of";
        default: return "the birth of";
    }
}

// A change of directory entries: the record holds the path, of a rename also the new one, and the inode that it is about.
#define CHANGE(what, path, other, call)                                                                                \
    pthread_mutex_lock(&lock);                                                                                         \
    struct stat information = {0};                                                                                     \
    if (is_below(path)) lstat(path, &information);                                                                     \
    int result = is_below(path) && fails(call_name(what), path, -1) ? -1 : call;                                       \
    if (result == 0 && is_below(path)) {                                                                               \
        if (!information.st_ino) lstat(path, &information);                                                            \
        note_path(what, information.st_ino, path, other);                                                              \
    }                                                                                                                  \
    pthread_mutex_unlock(&lock);                                                                                       \
    return result;

int rename(const char *path, const char *other) { CHANGE('r', path, other, REAL(rename)(path, other)) }
int unlink(const char *path) { CHANGE('u', path, NULL, REAL(unlink)(path)) }
int rmdir(const char *path) { CHANGE('d', path, NULL, REAL(rmdir)(path)) }
int mkdir(const char *path, mode_t mode) { CHANGE('m', path, NULL, REAL(mkdir)(path, mode)) }

int renameat(int from, const char *path, int to, const char *other) {
    char rooms[2][4096];
    const char *whole = resolved(from, path, rooms[0]), *target = resolved(to, other, rooms[1]);
    CHANGE('r', whole, target, REAL(renameat)(from, path, to, other))
}
int unlinkat(int directory, const char *path, int flags) {
    char room[4096];
    const char *whole = resolved(directory, path, room);
    CHANGE(flags & AT_REMOVEDIR ? 'd' : 'u', whole, NULL, REAL(unlinkat)(directory, path, flags))
}
int mkdirat(int directory, const char *path, mode_t mode) {
    char room[4096];
    const char *whole = resolved(directory, path, room);
    CHANGE('m', whole, NULL, REAL(mkdirat)(directory, path, mode))
}

#else

void write_trace_arm(long number, int error, int is_short) {}
long write_trace_count(void) { return 0; }

#endif
