#pragma once

// What Glibc's Swift module hides: epoll and eventfd (whole headers), and the depth of a socket's send queue.
#include <sys/epoll.h>
#include <sys/eventfd.h>

/// accept4(2) with SOCK_NONBLOCK and SOCK_CLOEXEC; Glibc's Swift module is built without the GNU extensions.
int clinux_accept(int file_descriptor);

/// Names the calling thread, pthread_setname_np(3); names longer than 15 bytes are refused by the system.
void clinux_name_thread(const char *_Nonnull name);
