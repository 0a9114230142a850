package io.ordertimeout.orders.api;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ClientAddressTest {

  @Test
  void ipv4AddressesAreAlone() {
    assertThat(ClientAddress.group("192.0.2.1")).isEqualTo("192.0.2.1");
    assertThat(ClientAddress.group("192.0.2.2")).isEqualTo("192.0.2.2");
  }

  @Test
  void ipv6AddressesBelongToTheirNetwork() {
    assertThat(ClientAddress.group("2001:db8:1:2::1"))
        .isEqualTo(ClientAddress.group("2001:0DB8:1:2:ffff:ffff:ffff:ffff"))
        .isNotEqualTo(ClientAddress.group("2001:db8:1:3::1"));
  }

  @Test
  void anIpv4AddressInIpv6FormIsTheSameAddress() {
    assertThat(ClientAddress.group("::ffff:192.0.2.1")).isEqualTo("192.0.2.1");
  }

  @Test
  void otherTextsAreGroupsOfTheirOwn() {
    for (String text : new String[] {"unknown", "", "no:address", "host.example"}) {
      assertThat(ClientAddress.group(text)).isEqualTo(text);
    }
  }
}
