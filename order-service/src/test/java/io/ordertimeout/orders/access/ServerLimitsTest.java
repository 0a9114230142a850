package io.ordertimeout.orders.access;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.boot.web.server.autoconfigure.ServerProperties.ForwardHeadersStrategy;

class ServerLimitsTest {

  private final ServerProperties server = new ServerProperties();

  @Test
  void forwardedHeadersOfAnyClientAreNotTrusted() {
    server.setForwardHeadersStrategy(ForwardHeadersStrategy.FRAMEWORK);
    assertThatThrownBy(() -> ServerLimits.checkForwardedHeaders(server))
        .hasMessageContaining("server.tomcat.remoteip.internal-proxies");

    server.setForwardHeadersStrategy(ForwardHeadersStrategy.NATIVE);
    ServerLimits.checkForwardedHeaders(server);
  }
}
