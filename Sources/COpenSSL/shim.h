#pragma once
// OpenSSL 3.0 for the TLS module. The wrappers below exist because Swift cannot import macros with arguments.
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

static inline int copenssl_set_min_tls12(SSL_CTX *_Nonnull context) {
    return (int)SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}
// The options are macros with casts, too.
static inline void copenssl_set_options(SSL_CTX *_Nonnull context) {
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
}
static inline int copenssl_print_name(BIO *_Nonnull bio, const X509_NAME *_Nonnull name) {
    return X509_NAME_print_ex(bio, name, 0, XN_FLAG_ONELINE & ~ASN1_STRFLGS_ESC_MSB);
}
static inline long copenssl_set_server_name(SSL *_Nonnull ssl, const char *_Nonnull name) {
    return SSL_set_tlsext_host_name(ssl, name);
}
static inline long copenssl_set_mode(SSL_CTX *_Nonnull context) {
    return SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}
static inline long copenssl_add_chain_certificate(SSL_CTX *_Nonnull context, X509 *_Nonnull certificate) {
    return SSL_CTX_add1_chain_cert(context, certificate);
}
static inline EVP_PKEY *_Nullable copenssl_generate_p256(void) { return EVP_EC_gen("P-256"); }
static inline int copenssl_pending(BIO *_Nonnull bio) { return (int)BIO_ctrl_pending(bio); }
// The bytes a memory BIO holds, in place.
static inline long copenssl_memory(BIO *_Nonnull bio, char *_Nullable *_Nonnull data) { return BIO_get_mem_data(bio, data); }
// An empty memory BIO means "nothing yet", not end of file.
static inline void copenssl_set_retry_on_empty(BIO *_Nonnull bio) { BIO_set_mem_eof_return(bio, -1); }
static inline int copenssl_reset(BIO *_Nonnull bio) { return (int)BIO_reset(bio); }
static inline ASN1_TIME *_Nullable copenssl_adjust_time(ASN1_TIME *_Nullable time, long seconds) {
    return X509_gmtime_adj(time, seconds);
}
