#define _GNU_SOURCE
#include "CLinux.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/socket.h>

int clinux_accept(int file_descriptor) {
    return accept4(file_descriptor, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

void clinux_name_thread(const char *name) {
    pthread_setname_np(pthread_self(), name);
}
