#ifndef CLMDB_SHIM_H
#define CLMDB_SHIM_H

#include <lmdb.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

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

/// Writes a line to standard error and ends the process with exit code 3. Calls only what a signal handler may call.
static inline void clmdb_end(const char *line) {
    ssize_t written = write(2, line, strlen(line));
    (void)written;
    _exit(3);
}

/// What LMDB calls where an assertion of its own fails: it must not return.
static inline void clmdb_asserted(MDB_env *environment, const char *message) {
    (void)environment;
    (void)message;
    clmdb_end("logtool: read log: a page is not as it was written, which showed only while it was in use; "
              "see: logtool verify\n");
}

/// A page of a mapped file lies behind the file's end, or the disk cannot read it. Any other SIGBUS ends the process as
/// it would without a handler.
static inline void clmdb_bus_error(int number, siginfo_t *info, void *context) {
    (void)context;
    int is_page = info->si_code == BUS_ADRERR;
#ifdef BUS_MCEERR_AR
    is_page = is_page || info->si_code == BUS_MCEERR_AR;
#endif
    if (is_page)
        clmdb_end("logtool: read log: a file became shorter or cannot be read while it is in use; see: logtool verify\n");
    signal(number, SIG_DFL);
}

/// From now on a SIGBUS for a page of a mapped file ends the process with a line and exit code 3.
static inline void clmdb_catch_bus_errors(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = clmdb_bus_error;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

/// Lets a failed assertion of LMDB end the process with a line and exit code 3.
static inline void clmdb_catch_assertions(MDB_env *environment) {
    mdb_env_set_assert(environment, clmdb_asserted);
}

#endif
