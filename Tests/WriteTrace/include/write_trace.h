#ifndef WRITE_TRACE_H
#define WRITE_TRACE_H

/// Makes the write with this number, counted from 1 from now on, fail with an error number; 0: none.
///
/// A write is any call that changes or syncs a file or directory below WRITE_TRACE_ROOT. Of a failing write of bytes the
/// first half is written when `is_short` is set, as on a disk that fills up.
void write_trace_arm(long number, int error, int is_short);

/// How many writes there were since the last call of `write_trace_arm`.
long write_trace_count(void);

#endif
