#define _GNU_SOURCE
#include "CLinux.h"

#include <linux/sockios.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

int clinux_unsent_bytes(int file_descriptor) {
    int bytes = 0;
    return ioctl(file_descriptor, SIOCOUTQ, &bytes) == 0 ? bytes : -1;
}

int clinux_accept(int file_descriptor) {
    return accept4(file_descriptor, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

void clinux_name_thread(const char *name) {
    pthread_setname_np(pthread_self(), name);
}
