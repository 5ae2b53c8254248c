#ifndef CSHA256_H
#define CSHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// SHA-256 (FIPS 180-4) by the processor's own instructions: one call a message, no context, no allocation.

// The hash's 32 bytes as four big-endian numbers, first to last.
typedef struct {
    uint64_t words[4];
} csha256_digest;

// Whether this processor has the instructions. Where it has not, the other function must not be called.
bool csha256_is_supported(void);

// The hash over a head of less than 64 bytes and what follows it.
csha256_digest csha256_hash(const void *head, size_t head_bytes, const void *rest, size_t rest_bytes);

#endif
