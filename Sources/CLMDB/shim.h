#ifndef CLMDB_SHIM_H
#define CLMDB_SHIM_H

#include <lmdb.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
