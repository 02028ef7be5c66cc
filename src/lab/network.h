// network: addresses of this machine and free ports on them. Functions are thread-safe.
#pragma once

#include <string>

namespace cephmark {

/// Throws UsageError unless `address` (numeric IPv4 or IPv6) is one of this machine's; the error
/// lists those it has.
void check_own_address(const std::string& address);

bool is_loopback(const std::string& address);

/// Whether a server could listen there now.
bool port_is_free(const std::string& address, int port);

/// `count` ports in a row that are free at `address`, below the range from which the kernel takes
/// ports for outgoing connections. The search starts at a random place, so that two labs made at
/// once do not collide. Throws Error.
int find_free_ports(const std::string& address, int count);

}  // namespace cephmark
