#include "baseline.h"

#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

struct baseline_env {
    MDB_env *env;
    MDB_dbi dbi;
    uint64_t next;
};

static void store_big_endian(uint8_t out[8], uint64_t value) {
    for (int i = 7; i >= 0; i--) {
        out[i] = (uint8_t)value;
        value >>= 8;
    }
}

baseline_env *baseline_open(const char *path) {
    baseline_env *self = calloc(1, sizeof *self);
    MDB_txn *txn = NULL;
    if (!self || mdb_env_create(&self->env)) goto fail;
    mdb_env_set_maxdbs(self->env, 4);
    if (mdb_env_set_mapsize(self->env, (size_t)64 << 30)) goto fail;
    if (mdb_env_open(self->env, path, MDB_NOTLS, 0600)) goto fail;
    if (mdb_txn_begin(self->env, NULL, 0, &txn)) goto fail;
    if (mdb_dbi_open(txn, "events", MDB_CREATE, &self->dbi) || mdb_txn_commit(txn)) goto fail;
    self->next = 1;
    return self;
fail:
    if (self && self->env) mdb_env_close(self->env);
    free(self);
    return NULL;
}

void baseline_close(baseline_env *self) {
    if (!self) return;
    mdb_env_close(self->env);
    free(self);
}

int baseline_append(baseline_env *self, const uint8_t *bytes, const uint64_t *offsets, size_t count, size_t batch) {
    for (size_t start = 0; start < count; start += batch) {
        size_t end = start + batch < count ? start + batch : count;
        MDB_txn *txn;
        int code = mdb_txn_begin(self->env, NULL, 0, &txn);
        if (code) return code;
        for (size_t i = start; i < end; i++) {
            uint8_t key[8];
            store_big_endian(key, self->next++);
            MDB_val k = {8, key};
            MDB_val v = {offsets[i + 1] - offsets[i], (void *)(bytes + offsets[i])};
            code = mdb_put(txn, self->dbi, &k, &v, MDB_APPEND);
            if (code) {
                mdb_txn_abort(txn);
                return code;
            }
        }
        code = mdb_txn_commit(txn);
        if (code) return code;
    }
    return 0;
}

uint64_t baseline_touch(const uint8_t *bytes, size_t count) {
    uint64_t sum = 0;
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        sum += word;
    }
    for (; i < count; i++) sum += bytes[i];
    return sum;
}

int baseline_scan(baseline_env *self, uint64_t *sum, uint64_t *count) {
    MDB_txn *txn;
    MDB_cursor *cursor;
    MDB_val k, v;
    int code = mdb_txn_begin(self->env, NULL, MDB_RDONLY, &txn);
    if (code) return code;
    code = mdb_cursor_open(txn, self->dbi, &cursor);
    if (code) {
        mdb_txn_abort(txn);
        return code;
    }
    uint64_t total = 0, records = 0;
    while ((code = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) == 0) {
        total += baseline_touch(v.mv_data, v.mv_size);
        records++;
    }
    mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
    *sum = total;
    *count = records;
    return code == MDB_NOTFOUND ? 0 : code;
}
