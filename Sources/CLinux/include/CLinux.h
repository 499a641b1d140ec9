#pragma once
// What Glibc's module hides from Swift: epoll, eventfd, socket queue sizes.
#include <sys/epoll.h>
#include <sys/eventfd.h>
