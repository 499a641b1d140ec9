#pragma once
// What Glibc's module hides from Swift: epoll and eventfd (their headers are in no module map), constants that are
// macros with casts, and the variadic ioctl(2).
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

// SIOCOUTQ lives in linux/sockios.h, which clashes with Glibc's own headers when imported as a module.
#define CLINUX_SIOCOUTQ 0x5411

// ioctl(2) is variadic, which Swift cannot call.
static inline int clinux_unsent_bytes(int descriptor) {
    int bytes = 0;
    return ioctl(descriptor, CLINUX_SIOCOUTQ, &bytes) == 0 ? bytes : -1;
}

// The data of an epoll event is a union, which Swift reaches only through generated accessors that copy it.
static inline struct epoll_event clinux_event(uint32_t events, uint64_t data) {
    struct epoll_event event;
    event.events = events;
    event.data.u64 = data;
    return event;
}
static inline uint64_t clinux_event_data(const struct epoll_event *_Nonnull event) { return event->data.u64; }

// GNU extensions, which Glibc's module leaves out because Swift does not define _GNU_SOURCE; see CLinux.c.
int clinux_accept(int listener, int flags);
void clinux_name_thread(const char *_Nonnull name);
