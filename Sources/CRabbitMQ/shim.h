#pragma once
// What Swift cannot import from rabbitmq-c: the union inside a field value.
// Since rabbitmq-c 0.12 the headers have a directory, and warn under their old names.
#if __has_include(<rabbitmq-c/amqp.h>)
#include <rabbitmq-c/amqp.h>
#include <rabbitmq-c/framing.h>
#else
#include <amqp.h>
#include <amqp_framing.h>
#endif

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
