#include "csha256.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>
#include <string.h>

#define BLOCK_BYTES 64

// FIPS 180-4, section 4.2.2.
static const uint32_t round_constants[64] __attribute__((aligned(16))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

bool csha256_is_supported(void) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3) || !(c & bit_SSE4_1)) return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1);
}

// The chaining value as the instructions want it: the words a, b, e, f and c, d, g, h, each from the highest lane down.
typedef struct {
    __m128i abef, cdgh;
} chain;

__attribute__((target("sha,sse4.1,ssse3"))) static chain compressed(chain now, const uint8_t *data, size_t blocks) {
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    for (; blocks > 0; blocks--, data += BLOCK_BYTES) {
        __m128i abef = now.abef, cdgh = now.cdgh, w[4];
        for (int i = 0; i < 4; i++) {
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)data + i), swap);
        }
#pragma clang loop unroll(full)
        for (int i = 0; i < 16; i++) {
            // Four rounds; then, in the place of their four words, those of the rounds sixteen later.
            __m128i now4 = w[i & 3], last4 = w[(i + 3) & 3];
            __m128i keyed = _mm_add_epi32(now4, _mm_load_si128((const __m128i *)round_constants + i));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, keyed);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(keyed, 0x0e));
            if (i < 12) {
                __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(now4, w[(i + 1) & 3]),
                                            _mm_alignr_epi8(last4, w[(i + 2) & 3], 4));
                w[i & 3] = _mm_sha256msg2_epu32(sum, last4);
            }
        }
        now.abef = _mm_add_epi32(now.abef, abef);
        now.cdgh = _mm_add_epi32(now.cdgh, cdgh);
    }
    return now;
}

static chain initial(void) {
    // FIPS 180-4, section 5.3.3.
    chain start = {
        _mm_set_epi32(0x6a09e667, (int)0xbb67ae85, 0x510e527f, (int)0x9b05688c),
        _mm_set_epi32(0x3c6ef372, (int)0xa54ff53a, 0x1f83d9ab, 0x5be0cd19),
    };
    return start;
}

static csha256_digest digest(chain last) {
    uint64_t abef[2], cdgh[2];
    _mm_storeu_si128((__m128i *)abef, last.abef);
    _mm_storeu_si128((__m128i *)cdgh, last.cdgh);
    csha256_digest digest = {{abef[1], cdgh[1], abef[0], cdgh[0]}};
    return digest;
}

static uint64_t big_endian(uint64_t number) { return __builtin_bswap64(number); }

csha256_digest csha256_hash(const void *head, size_t head_bytes, const void *rest, size_t rest_bytes) {
    uint8_t block[2 * BLOCK_BYTES];
    const uint8_t *next = rest;
    size_t left = rest_bytes, filled = head_bytes;
    chain state = initial();
    if (head_bytes > 0) {
        memcpy(block, head, head_bytes);
        if (left >= BLOCK_BYTES - head_bytes) {
            size_t taken = BLOCK_BYTES - head_bytes;
            memcpy(block + head_bytes, next, taken);
            state = compressed(state, block, 1);
            next += taken;
            left -= taken;
            filled = 0;
        }
    }
    if (filled == 0 && left >= BLOCK_BYTES) {
        state = compressed(state, next, left / BLOCK_BYTES);
        next += left - left % BLOCK_BYTES;
        left %= BLOCK_BYTES;
    }
    // The end: a one bit, zeros, and the length in bits in the last eight bytes of a block (section 5.1.1).
    if (left > 0) memcpy(block + filled, next, left);
    filled += left;
    size_t blocks = filled + 9 <= BLOCK_BYTES ? 1 : 2;
    block[filled] = 0x80;
    memset(block + filled + 1, 0, blocks * BLOCK_BYTES - filled - 9);
    uint64_t bits = big_endian(((uint64_t)head_bytes + rest_bytes) * 8);
    memcpy(block + blocks * BLOCK_BYTES - 8, &bits, 8);
    return digest(compressed(state, block, blocks));
}

#else

bool csha256_is_supported(void) { return false; }

csha256_digest csha256_hash(const void *head, size_t head_bytes, const void *rest, size_t rest_bytes) {
    csha256_digest none = {{0, 0, 0, 0}};
    return none;
}

#endif
