// The broker side of the lean floor (floor.c, `lean`). The library reads and writes no socket here: amqp_handle_input
// takes bytes and gives frames, amqp_encode_method and amqp_encode_properties write them. So a turn costs one write
// and one read for each connection, however many publications it carries.
#include "lean.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

// Of a frame: kind, channel and length before its payload, the end mark behind it. Of a content header: class, weight
// and body size before the properties.
enum { HEAD = 7, MARK = 1, CONTENT_HEAD = 12, END = 0xCE, CHANNEL = 1 };
// What methods and properties of ours take at most, and what one read takes.
enum { METHOD_LIMIT = 1024, PROPERTIES_LIMIT = 4096, READ_LIMIT = 262144 };

static uint8_t *put(uint8_t *at, uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) *at++ = value >> shift;
  return at;
}

// Where the next frame begins, with so much room behind its head.
static uint8_t *frame(wire *w, size_t payload) {
  size_t needed = w->length + HEAD + payload + MARK;
  if (needed > w->room) w->output = realloc(w->output, w->room = needed * 2);
  if (!w->output) fail("no memory");
  return w->output + w->length;
}

// Writes what surrounds the payload that is now there.
static void finish_frame(wire *w, int kind, size_t payload) {
  uint8_t *at = w->output + w->length;
  put(put(put(at, kind, 1), CHANNEL, 2), payload, 4);
  at[HEAD + payload] = END;
  w->length += HEAD + payload + MARK;
}

wire wire_over(amqp_connection_state_t connection) {
  return (wire){.codec = connection, .socket = amqp_get_sockfd(connection)};
}

void wire_method(wire *w, amqp_method_number_t id, void *method) {
  uint8_t *payload = frame(w, METHOD_LIMIT) + HEAD;
  int length = amqp_encode_method(id, method, (amqp_bytes_t){METHOD_LIMIT - 4, put(payload, id, 4)});
  if (length < 0) fail("a method cannot be encoded");
  finish_frame(w, AMQP_FRAME_METHOD, 4 + length);
}

void wire_publish(wire *w, amqp_basic_publish_t *method, amqp_basic_properties_t *properties, amqp_bytes_t body) {
  wire_method(w, AMQP_BASIC_PUBLISH_METHOD, method);
  uint8_t *content = frame(w, CONTENT_HEAD + PROPERTIES_LIMIT) + HEAD;
  content = put(put(put(content, AMQP_BASIC_CLASS, 2), 0, 2), body.len, 8);
  int length = amqp_encode_properties(AMQP_BASIC_CLASS, properties, (amqp_bytes_t){PROPERTIES_LIMIT, content});
  if (length < 0) fail("properties cannot be encoded");
  finish_frame(w, AMQP_FRAME_HEADER, CONTENT_HEAD + length);
  memcpy(frame(w, body.len) + HEAD, body.bytes, body.len);
  finish_frame(w, AMQP_FRAME_BODY, body.len);
}

void wire_send(wire *w) {
  while (w->sent < w->length) {
    ssize_t n = send(w->socket, w->output + w->sent, w->length - w->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN) fail("the broker's connection is lost");
    if (n < 0) break;
    w->sent += n;
  }
  // Room is needed for one turn, not for all that ever was sent.
  w->length -= w->sent;
  if (w->length) memmove(w->output, w->output + w->sent, w->length);
  w->sent = 0;
}

int wire_has_unsent(const wire *w) { return w->length > w->sent; }

void wire_receive(wire *w, void (*take)(const amqp_frame_t *frame)) {
  static uint8_t input[READ_LIMIT];
  ssize_t length = recv(w->socket, input, sizeof input, MSG_DONTWAIT);
  if (length == 0 || (length < 0 && errno != EAGAIN)) fail("the broker's connection is lost");
  for (ssize_t at = 0; at < length;) {
    amqp_frame_t one;
    int used = amqp_handle_input(w->codec, (amqp_bytes_t){length - at, input + at}, &one);
    if (used < 0) fail("what the broker sent cannot be read");
    at += used;
    // Kind 0 is a frame of which more is to come.
    if (one.frame_type) take(&one);
  }
  amqp_maybe_release_buffers(w->codec);
}
