#ifndef BASELINE_H
#define BASELINE_H

#include <stddef.h>
#include <stdint.h>

// What LMDB does with the same bytes and nothing else: no index, no hash, keys 1, 2, 3, ... big-endian, MDB_APPEND.

typedef struct baseline_env baseline_env;

// Opens an environment in an existing directory, synced at each commit. NULL on failure.
baseline_env *baseline_open(const char *path);
void baseline_close(baseline_env *env);

// Appends count records, the i-th being bytes[offsets[i]] ..< bytes[offsets[i + 1]], in transactions of batch records.
// Returns 0 or LMDB's code.
int baseline_append(baseline_env *env, const uint8_t *bytes, const uint64_t *offsets, size_t count, size_t batch);

// Reads every record in order and adds up every byte of its value. Returns 0 or LMDB's code.
int baseline_scan(baseline_env *env, uint64_t *sum, uint64_t *count);

// The sum of bytes, by the same loop as baseline_scan uses.
uint64_t baseline_touch(const uint8_t *bytes, size_t count);

#endif
