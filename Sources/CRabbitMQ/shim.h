#pragma once
// What Swift cannot import from rabbitmq-c 0.11 and OpenSSL: variadic calls, unions that alias, cast macros, callbacks.
#include <string.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/time.h>
#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// ---- login: variadic in C; our own capabilities, because 0.11 announces hardly any and the broker then stays silent
static inline amqp_table_entry_t crabbit_text(const char *key, const char *value) {
  amqp_table_entry_t entry;
  entry.key = amqp_cstring_bytes(key);
  entry.value.kind = AMQP_FIELD_KIND_UTF8;
  entry.value.value.bytes = amqp_cstring_bytes(value);
  return entry;
}

static inline amqp_table_entry_t crabbit_yes(const char *key) {
  amqp_table_entry_t entry;
  entry.key = amqp_cstring_bytes(key);
  entry.value.kind = AMQP_FIELD_KIND_BOOLEAN;
  entry.value.value.boolean = 1;
  return entry;
}

// user == NULL logs in with EXTERNAL; its identity must not be empty in 0.11 and is not looked at by the broker.
static inline amqp_rpc_reply_t crabbit_login(amqp_connection_state_t state, const char *vhost, int channel_max,
                                             int frame_max, int heartbeat, const char *name, const char *version,
                                             const char *user, const char *password) {
  amqp_table_entry_t can[5] = {crabbit_yes("consumer_cancel_notify"), crabbit_yes("connection.blocked"),
                               crabbit_yes("basic.nack"), crabbit_yes("publisher_confirms"),
                               crabbit_yes("authentication_failure_close")};
  amqp_table_entry_t entries[4] = {crabbit_text("connection_name", name), crabbit_text("product", "martlet"),
                                   crabbit_text("version", version)};
  entries[3].key = amqp_cstring_bytes("capabilities");
  entries[3].value.kind = AMQP_FIELD_KIND_TABLE;
  entries[3].value.value.table.num_entries = 5;
  entries[3].value.value.table.entries = can;
  amqp_table_t properties = {4, entries};
  if (user == NULL)
    return amqp_login_with_properties(state, vhost, channel_max, frame_max, heartbeat, &properties,
                                      AMQP_SASL_METHOD_EXTERNAL, "martlet");
  return amqp_login_with_properties(state, vhost, channel_max, frame_max, heartbeat, &properties,
                                    AMQP_SASL_METHOD_PLAIN, user, password);
}

// ---- reading: the payload union and the cast macros of amqp_framing.h
static inline uint32_t crabbit_method_id(const amqp_frame_t *frame) { return frame->payload.method.id; }
static inline void *crabbit_method_decoded(const amqp_frame_t *frame) { return frame->payload.method.decoded; }
static inline uint16_t crabbit_class_id(const amqp_frame_t *frame) { return frame->payload.properties.class_id; }
static inline uint64_t crabbit_body_size(const amqp_frame_t *frame) { return frame->payload.properties.body_size; }
static inline amqp_bytes_t crabbit_raw_properties(const amqp_frame_t *frame) { return frame->payload.properties.raw; }
static inline amqp_bytes_t crabbit_body_fragment(const amqp_frame_t *frame) { return frame->payload.body_fragment; }
static inline int crabbit_read_now(amqp_connection_state_t state, amqp_frame_t *frame) {
  struct timeval none = {0, 0};
  return amqp_simple_wait_frame_noblock(state, frame, &none);
}

// ---- writing: the union inside a header entry
static inline void crabbit_set_bytes(amqp_table_entry_t *e, uint8_t kind, const void *p, size_t n) {
  e->value.kind = kind;
  e->value.value.bytes.bytes = (void *)p;
  e->value.value.bytes.len = n;
}
static inline void crabbit_set_integer(amqp_field_value_t *v, uint8_t kind, uint64_t bits) {
  v->kind = kind;
  v->value.u64 = 0;
  switch (kind) {
    case AMQP_FIELD_KIND_BOOLEAN: v->value.boolean = bits != 0; break;
    case AMQP_FIELD_KIND_I8: case AMQP_FIELD_KIND_U8: v->value.u8 = (uint8_t)bits; break;
    case AMQP_FIELD_KIND_I16: case AMQP_FIELD_KIND_U16: v->value.u16 = (uint16_t)bits; break;
    case AMQP_FIELD_KIND_I32: case AMQP_FIELD_KIND_U32: case AMQP_FIELD_KIND_F32: v->value.u32 = (uint32_t)bits; break;
    default: v->value.u64 = bits; break;
  }
}

// ---- the socket: milliseconds since the kernel last took in data; heartbeats stay hidden inside the library
static inline int64_t crabbit_silence(int fd) {
  struct tcp_info info;
  socklen_t size = sizeof info;
  memset(&info, 0, sizeof info);
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return -1;
  return info.tcpi_last_data_recv;
}

// ---- TLS: 0.11 verifies only after the handshake, knows no IP names and sends the dialled address as server name
typedef struct {
  const char *server_name;  // for the server name indication; NULL for an IP address
  int verify_error;         // X509_V_ERR_* of the first failure, 0 if none
} crabbit_tls_t;

static inline int crabbit_on_verify(int ok, X509_STORE_CTX *store) {
  SSL *ssl = (SSL *)X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
  crabbit_tls_t *state = ssl ? (crabbit_tls_t *)SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)) : NULL;
  if (!ok && state && !state->verify_error) state->verify_error = X509_STORE_CTX_get_error(store);
  return ok;
}
static inline void crabbit_on_info(const SSL *ssl, int where, int result) {
  (void)result;
  if (!(where & SSL_CB_HANDSHAKE_START) || !SSL_in_before(ssl)) return;
  crabbit_tls_t *state = (crabbit_tls_t *)SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
  if (state) SSL_set_tlsext_host_name((SSL *)ssl, (char *)state->server_name);
}
static inline int crabbit_no_password(char *buffer, int size, int writing, void *user) {
  (void)buffer; (void)size; (void)writing; (void)user;
  return -1;
}
// Returns the step that failed, 0 when all is set: 1 protocol version, 2 trust, 3 certificate, 4 key, 5 pair, 6 name.
static inline int crabbit_tls_prepare(amqp_socket_t *socket, crabbit_tls_t *state, const char *ca_file,
                                      const char *cert_file, const char *key_file, const char *name, int name_is_ip) {
  SSL_CTX *ctx = (SSL_CTX *)amqp_ssl_socket_get_context(socket);
  ERR_clear_error();
  SSL_CTX_set_app_data(ctx, state);
  SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, crabbit_on_verify);
  SSL_CTX_set_info_callback(ctx, crabbit_on_info);
  SSL_CTX_set_default_passwd_cb(ctx, crabbit_no_password);
  SSL_CTX_set_options(ctx, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  if (SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) != 1) return 1;
  if ((ca_file ? SSL_CTX_load_verify_locations(ctx, ca_file, NULL) : SSL_CTX_set_default_verify_paths(ctx)) != 1)
    return 2;
  if (cert_file && SSL_CTX_use_certificate_chain_file(ctx, cert_file) != 1) return 3;
  if (key_file && SSL_CTX_use_PrivateKey_file(ctx, key_file, SSL_FILETYPE_PEM) != 1) return 4;
  if (cert_file && SSL_CTX_check_private_key(ctx) != 1) return 5;
  X509_VERIFY_PARAM *param = SSL_CTX_get0_param(ctx);
  X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if ((name_is_ip ? X509_VERIFY_PARAM_set1_ip_asc(param, name) : X509_VERIFY_PARAM_set1_host(param, name, 0)) != 1)
    return 6;
  amqp_ssl_socket_set_verify_peer(socket, 1);
  amqp_ssl_socket_set_verify_hostname(socket, 0);  // done inside the handshake by the parameters above
  return 0;
}
// The state passed to crabbit_tls_prepare may go away after this.
static inline void crabbit_tls_forget(amqp_socket_t *socket) {
  SSL_CTX_set_app_data((SSL_CTX *)amqp_ssl_socket_get_context(socket), NULL);
}
static inline const char *crabbit_verify_text(int error) { return X509_verify_cert_error_string(error); }
static inline const char *crabbit_tls_reason(void) {
  unsigned long code = ERR_peek_last_error();
  const char *text = code ? ERR_reason_error_string(code) : NULL;
  ERR_clear_error();
  return text;
}
