#ifndef CLIBCRYPTO_SHIM_H
#define CLIBCRYPTO_SHIM_H

// OpenSSL 3 marks these functions as deprecated in favour of EVP. EVP allocates a context for each hash; `SHA256_CTX` is
// a plain value, which a hasher holds inline and copies like any other. For 400 bytes, EVP takes a fifth longer even
// where its context is used again.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

// Ed25519 (RFC 8032), which has no interface but EVP.
#include <openssl/evp.h>

#endif
