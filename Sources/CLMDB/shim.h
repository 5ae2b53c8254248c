#ifndef CLMDB_SHIM_H
#define CLMDB_SHIM_H

#include <errno.h>
#include <lmdb.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif

/// Asks the processor for the bytes that a walk over a table comes to after `value`: those from `ahead` bytes on, as
/// many as `value` has. LMDB fills a leaf page from its end, so that the next value lies before this one, or at the end
/// of the next page. A hint: addresses that are not mapped do no harm.
static inline void clmdb_prefetch_next(MDB_val value, size_t ahead, size_t page_bytes) {
    uintptr_t start = (uintptr_t)value.mv_data;
    uintptr_t page = start & ~(uintptr_t)(page_bytes - 1);
    if (value.mv_size >= page_bytes / 2) return;
    for (uintptr_t line = start - ahead - value.mv_size; line < start - ahead; line += 64)
        __builtin_prefetch((const void *)(line < page ? line + 2 * page_bytes : line));
}

/// Asks the processor for some bytes. A hint like `clmdb_prefetch_next`.
static inline void clmdb_prefetch(const void *start, size_t bytes) {
    for (size_t line = 0; line < bytes; line += 64) __builtin_prefetch((const char *)start + line);
}

/// Writes a line to standard error and ends the process. Calls only what a signal handler may call.
static inline void clmdb_end(const char *line, int code) {
    ssize_t written = write(2, line, strlen(line));
    (void)written;
    _exit(code);
}

/// What LMDB calls where an assertion of its own fails: it must not return.
static inline void clmdb_asserted(MDB_env *environment, const char *message) {
    (void)environment;
    (void)message;
    clmdb_end("logtool: read log: a page is not as it was written, which showed only while it was in use; "
              "see: logtool verify\n", 3);
}

/// Whether an address lies in a shared map that this process may write to: one of a table of readers or of SQLite, not
/// of a log's data, which is mapped for reading. Reads `/proc/self/maps`, whose lines begin with `START-END rwxs`; 0
/// where there is none. Calls only what a signal handler may call.
static inline int clmdb_is_written_map(const void *address) {
#ifdef SYS_openat
    // By number, from the working directory, to read, closed in programs that are started: `fcntl.h` would declare
    // `struct stat` in this module, which Swift then does not find in the C library's.
    int file = (int)syscall(SYS_openat, -100, "/proc/self/maps", 02000000);
#else
    int file = -1;
#endif
    if (file < 0) return 0;
    uintptr_t bounds[2] = {0, 0};
    // The field of the line: start, end, rights, the rest.
    int field = 0, place = 0, is_written = 0, is_found = 0;
    char bytes[1024];
    for (ssize_t count; !is_found && (count = read(file, bytes, sizeof bytes)) > 0;) {
        for (ssize_t index = 0; index < count && !is_found; index++) {
            char byte = bytes[index];
            if (byte == '\n') {
                bounds[0] = bounds[1] = 0;
                field = place = is_written = 0;
            } else if (field < 2) {
                if (byte == (field == 0 ? '-' : ' ')) field++;
                else bounds[field] = bounds[field] << 4 | (uintptr_t)(byte <= '9' ? byte - '0' : byte - 'a' + 10);
            } else if (field == 2) {
                if (place == 1) is_written = byte == 'w';
                if (place == 3) {
                    is_written = is_written && byte == 's';
                    is_found = (uintptr_t)address >= bounds[0] && (uintptr_t)address < bounds[1];
                    field++;
                }
                place++;
            }
        }
    }
    close(file);
    return is_found && is_written;
}

/// A page of a mapped file lies behind the file's end, the disk cannot read it, or a hole that is written to finds no
/// room on the disk. Any other SIGBUS ends the process as it would without a handler.
static inline void clmdb_bus_error(int number, siginfo_t *info, void *context) {
    (void)context;
    int is_page = info->si_code == BUS_ADRERR;
#ifdef BUS_MCEERR_AR
    is_page = is_page || info->si_code == BUS_MCEERR_AR;
#endif
    if (is_page && clmdb_is_written_map(info->si_addr))
        clmdb_end("logtool: use log: the disk is full, so a table that processes share finds no room; "
                  "make room on it and try again\n", 2);
    if (is_page)
        clmdb_end("logtool: read log: a file became shorter or cannot be read while it is in use; "
                  "see: logtool verify\n", 3);
    signal(number, SIG_DFL);
}

/// From now on a SIGBUS for a page of a mapped file ends the process with a line: with exit code 2 if the page was to be
/// written and found no room, else with 3.
static inline void clmdb_catch_bus_errors(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = clmdb_bus_error;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

/// Gives the first bytes of a file their blocks on disk and leaves what they hold; lengthens a shorter file. Returns 0,
/// or -1 with the reason in `errno`. By number, because the C library declares the function to some programs only.
static inline int clmdb_reserve(int file, off_t bytes) {
#ifdef SYS_fallocate
    return (int)syscall(SYS_fallocate, file, 0, (off_t)0, bytes);
#else
    (void)file;
    (void)bytes;
    errno = ENOTSUP;
    return -1;
#endif
}

/// Lets a failed assertion of LMDB end the process with a line and exit code 3.
static inline void clmdb_catch_assertions(MDB_env *environment) {
    mdb_env_set_assert(environment, clmdb_asserted);
}

#endif
