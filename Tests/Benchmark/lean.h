// What the lean floor needs of AMQP: one wire for each connection, with rabbitmq-c as a codec only.
#include <amqp.h>
#include <amqp_framing.h>
#include <stddef.h>
#include <stdint.h>

// A connection whose bytes come and go here. What is to be sent gathers in `output` until `wire_send`.
typedef struct wire {
  amqp_connection_state_t codec;
  int socket;
  uint8_t *output;
  size_t room, length, sent;
} wire;

// Ends the program with a message.
void fail(const char *what) __attribute__((noreturn));

// Takes the socket over from a connection that is logged in and has one channel. Nothing may be under way on it: what
// the library has read by itself would never be seen here.
wire wire_over(amqp_connection_state_t connection);
// Adds one method frame, such as an acknowledgement.
void wire_method(wire *w, amqp_method_number_t id, void *method);
// Adds the three frames of a publication.
void wire_publish(wire *w, amqp_basic_publish_t *method, amqp_basic_properties_t *properties, amqp_bytes_t body);
// Writes what has gathered, in one call where the socket takes it; the rest stays for the next turn.
void wire_send(wire *w);
// Whether some of it is still unsent.
int wire_has_unsent(const wire *w);
// Reads once, and hands over every frame that is complete. A frame's memory is good until `take` returns.
void wire_receive(wire *w, void (*take)(const amqp_frame_t *frame));
