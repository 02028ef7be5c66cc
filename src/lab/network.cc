#include "lab/network.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <random>

#include "base/error.h"
#include "base/fd.h"

namespace cephmark {
namespace {

constexpr int kFirstPort = 20'000, kPortCount = 10'000;

// 0 when not a numeric address.
socklen_t fill_address(const std::string& text, int port, sockaddr_storage& address) {
  std::memset(&address, 0, sizeof address);
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address);
  if (::inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(static_cast<uint16_t>(port));
    return sizeof *v4;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address);
  if (::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(static_cast<uint16_t>(port));
    return sizeof *v6;
  }
  return 0;
}

// 0 when a server can listen there, otherwise errno.
int try_to_listen(const std::string& text, int port) {
  sockaddr_storage address;
  const socklen_t size = fill_address(text, port, address);
  if (size == 0) return EINVAL;
  UniqueFd fd(::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return errno;
  const int on = 1;  // as Ceph does: connections that just ended do not hold the port
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) || ::listen(fd.get(), 1))
    return errno;
  return 0;
}

std::string own_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list)) return "";
  std::string result;
  for (const ifaddrs* entry = list; entry; entry = entry->ifa_next) {
    if (!entry->ifa_addr) continue;
    char text[INET6_ADDRSTRLEN] = "";
    if (entry->ifa_addr->sa_family == AF_INET)
      ::inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in*>(entry->ifa_addr)->sin_addr, text,
                  sizeof text);
    if (entry->ifa_addr->sa_family == AF_INET6)
      ::inet_ntop(AF_INET6, &reinterpret_cast<sockaddr_in6*>(entry->ifa_addr)->sin6_addr, text,
                  sizeof text);
    if (*text)
      result += fmt::format("{}{} ({})", result.empty() ? "" : ", ", text, entry->ifa_name);
  }
  ::freeifaddrs(list);
  return result;
}

}  // namespace

void check_own_address(const std::string& address) {
  sockaddr_storage parsed;
  const bool numeric = fill_address(address, 0, parsed) != 0;
  if (numeric && (address == "0.0.0.0" || address == "::"))
    throw UsageError(
        fmt::format("--bind {} is not one address: clients could not be told where the cluster is",
                    address),
        fmt::format("this machine has {}", own_addresses()));
  const int error = numeric ? try_to_listen(address, 0) : EINVAL;
  if (error == 0) return;
  throw UsageError(fmt::format("--bind {}: {}", address,
                               !numeric                 ? "not a numeric IPv4 or IPv6 address"
                               : error == EADDRNOTAVAIL ? "this machine does not have that address"
                                                        : errno_text(error)),
                   fmt::format("this machine has {}", own_addresses()));
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

bool port_is_free(const std::string& address, int port) {
  return try_to_listen(address, port) == 0;
}

int find_free_ports(const std::string& address, int count) {
  std::random_device random;
  const int start = static_cast<int>(random() % kPortCount);
  for (int i = 0; i < kPortCount; ++i) {
    const int first = kFirstPort + (start + i) % kPortCount;
    bool free = true;
    for (int port = first; free && port < first + count; ++port) free = port_is_free(address, port);
    if (free) return first;
  }
  throw Error(fmt::format("no free port at {} between {} and {}", address, kFirstPort,
                          kFirstPort + kPortCount));
}

}  // namespace cephmark
