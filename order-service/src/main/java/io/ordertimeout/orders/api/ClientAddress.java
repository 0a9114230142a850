package io.ordertimeout.orders.api;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HexFormat;

/**
 * Groups the addresses that one client can choose from: an IPv4 address alone, and all IPv6
 * addresses with the same first 64 bits, because a network assigns at least that many to a client.
 */
public final class ClientAddress {

  private static final int NETWORK_BYTES = 8;

  private ClientAddress() {}

  /**
   * Returns the group of an address.
   *
   * @param address the address of a request; an address that is not IPv6 is a group of its own
   */
  public static String group(String address) {
    if (address.indexOf(':') < 0) {
      return address;
    }
    try {
      // An address with a colon is never looked up as a name.
      InetAddress parsed = InetAddress.getByName(address);
      return parsed instanceof Inet6Address
          ? HexFormat.ofDelimiter(":").formatHex(parsed.getAddress(), 0, NETWORK_BYTES) + "::/64"
          : parsed.getHostAddress();
    } catch (UnknownHostException e) {
      return address;
    }
  }
}
