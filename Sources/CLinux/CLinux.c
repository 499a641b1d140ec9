#define _GNU_SOURCE
#include "CLinux.h"
#include <pthread.h>
#include <stddef.h>
#include <sys/socket.h>

int clinux_accept(int listener, int flags) { return accept4(listener, NULL, NULL, flags); }

void clinux_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }
