#pragma once
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// Only what Swift cannot import stands below; each wrapper says why it exists.

// SSL_OP_ flags are made with a function-like macro, SSL_OP_BIT(n).
static const uint64_t copenssl_op_no_renegotiation = SSL_OP_NO_RENEGOTIATION;
static const uint64_t copenssl_op_no_compression = SSL_OP_NO_COMPRESSION;
static const uint64_t copenssl_op_no_ticket = SSL_OP_NO_TICKET;

// The flag is a combination of macros with casts; RFC 2253 form, but characters beyond ASCII stay readable.
static const unsigned long copenssl_name_flags = XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB;

// A function-like macro over SSL_CTX_ctrl.
static inline int copenssl_set_minimum_version(SSL_CTX *_Nonnull context, int version) {
    return (int)SSL_CTX_set_min_proto_version(context, version);
}

// A function-like macro over SSL_CTX_ctrl.
static inline void copenssl_set_session_cache_mode(SSL_CTX *_Nonnull context, long mode) {
    SSL_CTX_set_session_cache_mode(context, mode);
}

// A function-like macro over SSL_CTX_ctrl; counts a reference of its own.
static inline int copenssl_add_chain_certificate(SSL_CTX *_Nonnull context, X509 *_Nonnull certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

// A function-like macro over SSL_ctrl; copies the name.
static inline int copenssl_set_server_name(SSL *_Nonnull session, const char *_Nonnull name) {
    return (int)SSL_set_tlsext_host_name(session, name);
}

// A function-like macro over BIO_ctrl; the bytes stay the BIO's.
static inline long copenssl_memory_contents(BIO *_Nonnull bio, char *_Nullable *_Nonnull bytes) {
    return BIO_get_mem_data(bio, bytes);
}

// EVP_EC_gen is a macro over a variadic function.
static inline EVP_PKEY *_Nullable copenssl_generate_p256_key(void) {
    return EVP_EC_gen("P-256");
}

// EVP_Digest, which OpenSSL prefers to these three, allocates and takes three times as long for the sixty bytes of a name.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
static inline void copenssl_sha1_init(SHA_CTX *_Nonnull context) {
    SHA1_Init(context);
}

static inline void copenssl_sha1_update(SHA_CTX *_Nonnull context, const void *_Nullable bytes, size_t count) {
    SHA1_Update(context, bytes, count);
}

static inline void copenssl_sha1_final(unsigned char *_Null_unspecified digest, SHA_CTX *_Nonnull context) {
    SHA1_Final(digest, context);
}
#pragma clang diagnostic pop
