// The floor: what the three C libraries cost when nothing else happens. One thread consumes jobs from the route's queue,
// pushes each over one HTTP/2 connection, publishes the result of the contract, awaits its confirm and acknowledges.
// It carries the same headers, exchanges and result size as a worker but decodes, retries and survives nothing, so a
// worker's ratio to it is what being a worker costs. The lean floor does the same work with rabbitmq-c as a codec only:
// its sends and reads are its own (lean.c), and the rest of it is the floor's.
//
//   floor publish AMQP_PORT raw|large|enveloped|multicast COUNT [ROUTES [RATE]]
//                                           fill the queues of so many routes in turn, confirmed; so many a second
//   floor work AMQP_PORT HTTP2_PORT COUNT   be the floor; prints one line of figures
//   floor lean AMQP_PORT HTTP2_PORT COUNT   be the lean floor
//   floor await AMQP_PORT QUEUE COUNT       return once that many messages are ready in a queue
//   floor drained AMQP_PORT QUEUE           return once none is
#if __has_include(<rabbitmq-c/amqp.h>)
#include <rabbitmq-c/amqp.h>
#include <rabbitmq-c/framing.h>
#include <rabbitmq-c/tcp_socket.h>
#else
#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_tcp_socket.h>
#endif
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "lean.h"

enum { BODY = 280, LARGE = 4096, WINDOW = 2000, PREFETCH = 1500, STREAMS = 1000, RECORD = 16384, TOKENS = 100 };
static const char topic[] = "com.example.bench", key_prefix[] = "development.normal.";
static const char queue[] = "apns.q.jobs.bench", id[] = "eabeae54-14a8-11e5-b60b-1697f925ec7b";

void fail(const char *what) { fprintf(stderr, "floor: %s\n", what); exit(1); }
static double seconds(clockid_t clock) { struct timespec t; clock_gettime(clock, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static double cpu(void) {
  struct rusage u; getrusage(RUSAGE_SELF, &u);
  return u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}
static amqp_bytes_t text(const char *s) { return amqp_cstring_bytes(s); }
static amqp_table_entry_t header_text(const char *name, const char *value) {
  return (amqp_table_entry_t){text(name), {AMQP_FIELD_KIND_UTF8, {.bytes = text(value)}}};
}
static amqp_table_entry_t header_int(const char *name, int value) {
  return (amqp_table_entry_t){text(name), {AMQP_FIELD_KIND_I32, {.i32 = value}}};
}
// Token files 0000… to 0099… exist on the sink; the last decimal digits of the first bytes tell them apart.
static void device_token(char *out, int n) { snprintf(out, 65, "%04d%060d", n % TOKENS, 0); }

static amqp_connection_state_t broker(int port) {
  amqp_connection_state_t c = amqp_new_connection();
  if (amqp_socket_open(amqp_tcp_socket_new(c), "127.0.0.1", port)) fail("no broker");
  if (amqp_login(c, "/", 0, 131072, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest").reply_type != AMQP_RESPONSE_NORMAL) fail("login");
  amqp_channel_open(c, 1);
  if (amqp_get_rpc_reply(c).reply_type != AMQP_RESPONSE_NORMAL) fail("channel");
  return c;
}

// ---- publisher confirms: slot of each sequence number; `settled` is a callback per confirmed publication ----
static uint64_t published, confirmed_prefix;
static unsigned char *is_confirmed;
static void (*settled)(uint64_t sequence);
static void settle(uint64_t sequence) {
  if (is_confirmed[sequence]) return;
  is_confirmed[sequence] = 1;
  if (settled) settled(sequence);
  while (confirmed_prefix < published && is_confirmed[confirmed_prefix + 1]) confirmed_prefix++;
}
static void take_confirm(const amqp_frame_t *f) {
  if (f->frame_type != AMQP_FRAME_METHOD) return;
  if (f->payload.method.id == AMQP_BASIC_RETURN_METHOD) fail("a publication was returned");
  if (f->payload.method.id != AMQP_BASIC_ACK_METHOD) return;
  amqp_basic_ack_t *ack = f->payload.method.decoded;
  if (ack->multiple) for (uint64_t s = confirmed_prefix + 1; s <= ack->delivery_tag; s++) settle(s);
  else settle(ack->delivery_tag);
}
static void read_confirms(amqp_connection_state_t c, struct timeval *wait) {
  amqp_frame_t f;
  while (amqp_simple_wait_frame_noblock(c, &f, wait) == AMQP_STATUS_OK) {
    static struct timeval now; wait = &now;
    take_confirm(&f);
  }
  amqp_maybe_release_buffers(c);
}

// The first route has the plain topic, the others have their number behind it.
static void route_key(char *out, size_t size, long route) {
  int n = snprintf(out, size, "%s%s", key_prefix, topic);
  if (route) snprintf(out + n, size - n, "%ld", route);
}
static void sleep_until(double moment) {
  struct timespec due = {moment, (moment - (time_t)moment) * 1e9};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
}
static void publish_jobs(int port, const char *form, long count, long routes, double rate) {
  amqp_connection_state_t c = broker(port);
  amqp_confirm_select(c, 1);
  /* A large job is a raw one with as much payload as APNs takes. */
  int large = !strcmp(form, "large"), raw = large || !strcmp(form, "raw"), multicast = !strcmp(form, "multicast");
  char token[65], payload[LARGE + 1], *body = malloc(65536); size_t length = large ? LARGE : BODY;
  int n = snprintf(payload, sizeof payload, "{\"aps\":{\"alert\":{\"title\":\"Order shipped\",\"body\":\"");
  memset(payload + n, 'x', length - n); memcpy(payload + length - 4, "\"}}}", 5);
  device_token(token, 0);
  char job_key[96], *job_topic = job_key + sizeof key_prefix - 1;
  route_key(job_key, sizeof job_key, 0);
  amqp_table_entry_t h[4] = {header_text("apns-device-token", token), header_text("apns-topic", job_topic),
                             header_text("apns-push-type", "alert"), header_int("apns-priority", 10)};
  amqp_basic_properties_t p = {._flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_CONTENT_TYPE_FLAG,
                               .delivery_mode = 2, .content_type = text("application/json")};
  if (raw) { p._flags |= AMQP_BASIC_HEADERS_FLAG; p.headers = (amqp_table_t){4, h}; p.content_type = text("application/vnd.apns.payload+json"); }
  char unique[37];
  /* Ids of its own for each filling: a job that looks like one that was pushed lately may be taken for its redelivery. */
  unsigned long first = (unsigned long)(getpid() & 0xfff) << 20;
  double began = seconds(CLOCK_MONOTONIC);
  for (long i = 1; i <= count; i++) {
    if (rate) sleep_until(began + i / rate);
    if (routes > 1) {
      route_key(job_key, sizeof job_key, i % routes);
      h[1].value.value.bytes = text(job_topic);
    }
    snprintf(unique, sizeof unique, "%08lx-14a8-41e5-b60b-1697f925ec7b", (first + i) & 0xffffffff);
    p.message_id = text(unique);
    if (raw) memcpy(body, payload, length);
    else {
      int k;
      if (multicast) {
        k = sprintf(body, "{\"device_tokens\":[");
        for (int t = 0; t < TOKENS; t++) { device_token(token, t); k += sprintf(body + k, "%s\"%s\"", t ? "," : "", token); }
        k += sprintf(body + k, "],");
      } else k = sprintf(body, "{\"device_token\":\"%s\",", token);
      // A single enveloped job is 280 bytes of payload in its envelope, so that both forms push the same bytes.
      length = k + sprintf(body + k, "\"topic\":\"%s\",\"push_type\":\"alert\",\"priority\":10,\"payload\":%s}",
                           job_topic, payload);
    }
    amqp_basic_publish(c, 1, text("apns.jobs"), text(job_key), 0, 0, &p, (amqp_bytes_t){length, body});
    published = i;
    while (i - confirmed_prefix > WINDOW || (i == count && (long)confirmed_prefix < count)) { struct timeval wait = {1, 0}; read_confirms(c, &wait); }
  }
}

// ---- the work ----
// What the lean floor has in place of the library's sockets.
static int is_lean; static wire consuming, publishing;
typedef struct job { uint64_t tag; size_t length, sent; int status; struct job *next; char body[BODY]; } job;
static job *spare, *first_waiting, **last_waiting = &first_waiting;
static amqp_connection_state_t consume, publish;
static unsigned char *is_done; static uint64_t *tag_of; static uint64_t received, done_prefix, acknowledged; static long open_streams, expected;

static void job_confirmed(uint64_t sequence) {
  is_done[tag_of[sequence]] = 1;
  while (done_prefix < received && is_done[done_prefix + 1]) done_prefix++;
}
static void report(job *j) {
  static amqp_table_entry_t h[4]; static amqp_basic_properties_t p; static char body[700];
  if (!p._flags) {
    h[0] = header_text("x-apns-outcome", "accepted"); h[1] = header_int("x-apns-status", 200);
    h[2] = header_text("x-apns-reason", ""); h[3] = header_int("x-apns-attempt", 1);
    p = (amqp_basic_properties_t){._flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_CORRELATION_ID_FLAG |
                                            AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_TYPE_FLAG | AMQP_BASIC_HEADERS_FLAG,
                                  .delivery_mode = 2, .message_id = text(id), .correlation_id = text(id), .type = text("apns.result.v1"),
                                  .content_type = text("application/json"), .headers = {4, h}};
  }
  int n = snprintf(body, sizeof body,
    "{\"job_id\":\"%s\",\"index\":0,\"outcome\":\"accepted\",\"action\":\"none\",\"status\":%d,\"reason\":null,\"detail\":null,\"device_token\":\"%064d\","
    "\"token_invalid_since\":null,\"reference\":null,\"apns_id\":\"%s\",\"apns_unique_id\":null,\"topic\":\"%s\",\"environment\":\"development\","
    "\"route\":\"bench\",\"attempt\":1,\"redelivered\":false,\"enqueued_at\":1763712800100,\"finished_at\":%lld,\"queue_ms\":31,\"apns_ms\":41,\"worker\":\"floor-0000\"}",
    id, j->status, 0, id, topic, 1763712800000LL + (long long)j->tag);
  tag_of[++published] = j->tag;
  amqp_basic_publish_t m = {.exchange = text("apns.results"), .mandatory = 1,
                            .routing_key = text("accepted.development.com.example.bench")};
  amqp_bytes_t bytes = {n, body};
  if (is_lean) wire_publish(&publishing, &m, &p, bytes);
  else if (amqp_basic_publish(publish, 1, m.exchange, m.routing_key, m.mandatory, 0, &p, bytes)) fail("publish");
  j->next = spare; spare = j;
}
// A job whose delivery has these properties, and whose body is still to come.
static job *new_job(uint64_t tag, const amqp_basic_properties_t *p, uint64_t length) {
  job *j = spare;
  if (j) spare = j->next; else j = malloc(sizeof *j);
  int known = 0;
  for (int i = 0; i < p->headers.num_entries; i++) known += !strncmp(p->headers.entries[i].key.bytes, "apns-", 5);
  if (known < 4 || length > BODY) fail("not a raw job of ours");
  j->tag = tag; j->length = length; j->sent = 0; j->status = 0; j->next = NULL;
  return j;
}
static void wait_for_stream(job *j) {
  if (++received > (uint64_t)expected) fail("the queue has more jobs than it was filled with");
  *last_waiting = j; last_waiting = &j->next;
}
static void take(long count) {
  struct timeval none = {0, 0};
  for (int k = 0; k < 256 && (long)received < count; k++) {
    amqp_envelope_t e;
    amqp_maybe_release_buffers(consume);
    if (amqp_consume_message(consume, &e, &none, 0).reply_type != AMQP_RESPONSE_NORMAL) return;
    job *j = new_job(e.delivery_tag, &e.message.properties, e.message.body.len);
    memcpy(j->body, e.message.body.bytes, j->length);
    wait_for_stream(j);
    amqp_destroy_envelope(&e);
  }
}
// The same from the three or more frames of a delivery.
static void take_delivery(const amqp_frame_t *f) {
  static uint64_t tag; static job *j; static size_t had;
  if (f->frame_type == AMQP_FRAME_METHOD && f->payload.method.id == AMQP_BASIC_DELIVER_METHOD) {
    tag = ((amqp_basic_deliver_t *)f->payload.method.decoded)->delivery_tag;
  } else if (f->frame_type == AMQP_FRAME_HEADER) {
    j = new_job(tag, f->payload.properties.decoded, f->payload.properties.body_size); had = 0;
  } else if (f->frame_type == AMQP_FRAME_BODY) {
    memcpy(j->body + had, f->payload.body_fragment.bytes, f->payload.body_fragment.len);
    if ((had += f->payload.body_fragment.len) == j->length) wait_for_stream(j);
  }
}
static ssize_t read_body(nghttp2_session *s, int32_t stream, uint8_t *out, size_t room, uint32_t *flags, nghttp2_data_source *source, void *u) {
  job *j = source->ptr; size_t n = j->length - j->sent; if (n > room) n = room;
  memcpy(out, j->body + j->sent, n);
  if ((j->sent += n) == j->length) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return n;
}
static int on_header(nghttp2_session *s, const nghttp2_frame *f, const uint8_t *name, size_t n, const uint8_t *value, size_t v, uint8_t flags, void *u) {
  job *j = nghttp2_session_get_stream_user_data(s, f->hd.stream_id);
  if (j && name[0] == ':') j->status = atoi((const char *)value);
  return 0;
}
static int on_stream_close(nghttp2_session *s, int32_t stream, uint32_t code, void *u) {
  job *j = nghttp2_session_get_stream_user_data(s, stream); if (!j) return 0;
  if (j->status != 200) fail("a push was not accepted");
  open_streams--; report(j);
  return 0;
}
static SSL *tls; static int h2_socket; static nghttp2_session *h2; static uint8_t output[RECORD * 3], input[65536]; static size_t output_length, output_sent;
static void send_http2(void) {
  for (;;) {
    if (output_sent == output_length) {
      const uint8_t *bytes; ssize_t n; output_sent = output_length = 0;
      while (output_length < RECORD && (n = nghttp2_session_mem_send(h2, &bytes)) > 0) { memcpy(output + output_length, bytes, n); output_length += n; }
      if (!output_length) return;
    }
    int n = SSL_write(tls, output + output_sent, output_length - output_sent); if (n <= 0) return;
    output_sent += n;
  }
}
static void receive_http2(void) { for (int n; (n = SSL_read(tls, input, sizeof input)) > 0;) nghttp2_session_mem_recv(h2, input, n); }
static uint32_t connect_http2(int port) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}; int on = 1;
  h2_socket = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(h2_socket, (struct sockaddr *)&a, sizeof a)) fail("no HTTP/2 server");
  setsockopt(h2_socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  SSL_CTX *context = SSL_CTX_new(TLS_client_method()); tls = SSL_new(context);
  SSL_set_alpn_protos(tls, (const uint8_t *)"\2h2", 3); SSL_set_fd(tls, h2_socket);
  SSL_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (SSL_connect(tls) != 1) fail("TLS");
  fcntl(h2_socket, F_SETFL, O_NONBLOCK);
  nghttp2_session_callbacks *callbacks; nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
  nghttp2_session_client_new(&h2, callbacks, NULL);
  nghttp2_submit_settings(h2, 0, NULL, 0);
  for (;;) {
    uint32_t limit = nghttp2_session_get_remote_settings(h2, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
    if (limit < 1u << 30) return limit < STREAMS ? limit : STREAMS;
    send_http2(); struct pollfd p = {h2_socket, POLLIN, 0}; poll(&p, 1, 100); receive_http2();
  }
}
#define FIELD(name, value, flags) \
  {(uint8_t *)name, (uint8_t *)value, sizeof name - 1, strlen(value), NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE | flags}
static void start_consuming(void) {
  amqp_basic_qos(consume, 1, 0, PREFETCH, 0);
  if (is_lean) {
    // From here on the sockets are ours. Deliveries may come right behind the answer, so the question is ours too.
    amqp_basic_consume_t m = {.queue = text(queue)};
    consuming = wire_over(consume); publishing = wire_over(publish);
    wire_method(&consuming, AMQP_BASIC_CONSUME_METHOD, &m);
    wire_send(&consuming);
    return;
  }
  amqp_basic_consume(consume, 1, text(queue), amqp_empty_bytes, 0, 0, 0, amqp_empty_table);
  if (amqp_get_rpc_reply(consume).reply_type != AMQP_RESPONSE_NORMAL) fail("consume");
}
static void acknowledge(uint64_t tag) {
  amqp_basic_ack_t m = {.delivery_tag = tag, .multiple = 1};
  if (is_lean) wire_method(&consuming, AMQP_BASIC_ACK_METHOD, &m);
  else amqp_basic_ack(consume, 1, tag, 1);
  acknowledged = tag;
}
static struct pollfd interest(int socket, int has_unsent) {
  return (struct pollfd){socket, POLLIN | (has_unsent ? POLLOUT : 0), 0};
}
// Returns once the broker has read everything. The end of the process alone could cut off the last acknowledgements, and
// their jobs would come again to whoever is measured next.
static void leave(amqp_connection_state_t c, wire *w) {
  while (is_lean && wire_has_unsent(w)) {
    struct pollfd p = {w->socket, POLLOUT, 0};
    poll(&p, 1, 1000); wire_send(w);
  }
  if (amqp_connection_close(c, AMQP_REPLY_SUCCESS).reply_type != AMQP_RESPONSE_NORMAL) fail("the broker's connection is lost");
}
static void work(int amqp_port, int h2_port, long count) {
  char path[96] = "/3/device/", bearer[228] = "bearer "; device_token(path + 10, 0); memset(bearer + 7, 'k', 220);
  nghttp2_nv head[] = {FIELD(":method", "POST", 0), FIELD(":scheme", "https", 0), FIELD(":path", path, NGHTTP2_NV_FLAG_NO_INDEX), FIELD(":authority", "127.0.0.1", 0),
    FIELD("authorization", bearer, 0), FIELD("apns-topic", topic, 0), FIELD("apns-push-type", "alert", 0), FIELD("apns-priority", "10", 0), FIELD("apns-id", id, NGHTTP2_NV_FLAG_NO_INDEX)};
  long limit = connect_http2(h2_port); struct timeval none = {0, 0};
  consume = broker(amqp_port); publish = broker(amqp_port); amqp_confirm_select(publish, 1); settled = job_confirmed;
  expected = count;
  start_consuming();
  double wall = seconds(CLOCK_MONOTONIC), before = cpu();
  while ((long)acknowledged < count) {
    struct pollfd p[] = {interest(amqp_get_sockfd(consume), wire_has_unsent(&consuming)),
                         interest(amqp_get_sockfd(publish), wire_has_unsent(&publishing)),
                         interest(h2_socket, output_length > output_sent)};
    if (!amqp_data_in_buffer(consume) && !amqp_frames_enqueued(consume) && !amqp_data_in_buffer(publish) && !amqp_frames_enqueued(publish)) poll(p, 3, 1000);
    if (is_lean) wire_receive(&consuming, take_delivery); else take(count);
    for (job *j; (j = first_waiting) && open_streams < limit; open_streams++) {
      if (!(first_waiting = j->next)) last_waiting = &first_waiting;
      nghttp2_data_provider body = {{.ptr = j}, read_body};
      if (nghttp2_submit_request(h2, NULL, head, sizeof head / sizeof *head, &body, j) < 0) fail("submit");
    }
    send_http2(); receive_http2();
    if (is_lean) wire_receive(&publishing, take_confirm); else read_confirms(publish, &none);
    uint64_t owed = done_prefix - acknowledged;
    if (owed >= 64 || (owed && done_prefix == received)) acknowledge(done_prefix);
    if (is_lean) { wire_send(&publishing); wire_send(&consuming); }
  }
  wall = seconds(CLOCK_MONOTONIC) - wall;
  double spent = cpu() - before;
  leave(consume, &consuming); leave(publish, &publishing);
  printf("%.3f us/job %.0f jobs/s\n", spent / count * 1e6, count / wall);
}

int main(int argc, char **argv) {
  if (argc < 4) fail("usage: see the first lines of floor.c");
  int port = atoi(argv[2]); long count = argc > 4 ? atol(argv[4]) : 0;
  is_confirmed = calloc(count + 2, 1); is_done = calloc(count + 2, 1); tag_of = calloc(count + 2, sizeof *tag_of);
  is_lean = !strcmp(argv[1], "lean");
  if (!strcmp(argv[1], "publish") && argc >= 5 && argc <= 7)
    publish_jobs(port, argv[3], count, argc > 5 ? atol(argv[5]) : 1, argc > 6 ? atof(argv[6]) : 0);
  else if ((is_lean || !strcmp(argv[1], "work")) && argc == 5) work(port, atoi(argv[3]), count);
  else if ((!strcmp(argv[1], "await") && argc == 5) || !strcmp(argv[1], "drained")) {
    // One connection and few questions, so that watching costs the broker nothing that shows.
    amqp_connection_state_t c = broker(port); struct timespec pause = {0, 10000000};
    for (;;) {
      amqp_queue_declare_ok_t *q = amqp_queue_declare(c, 1, text(argv[3]), 1, 0, 0, 0, amqp_empty_table);
      if (!q) fail("no such queue");
      if (count ? q->message_count >= count : !q->message_count) break;
      amqp_maybe_release_buffers(c); nanosleep(&pause, NULL);
    }
  } else fail("unknown command");
  return 0;
}
