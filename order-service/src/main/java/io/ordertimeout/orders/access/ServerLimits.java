package io.ordertimeout.orders.access;

import io.ordertimeout.orders.OrderTimeoutProperties;
import org.apache.catalina.core.StandardHost;
import org.apache.coyote.http11.AbstractHttp11Protocol;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.tomcat.ConfigurableTomcatWebServerFactory;
import org.springframework.boot.tomcat.autoconfigure.TomcatServerProperties;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;

/**
 * Bounds the time for which Tomcat waits for the body of a request, replaces its error pages, and
 * refuses a configuration that trusts the forwarded headers of any client. The component scan adds
 * it to the server of the API, Spring Boot to the server of the management port.
 */
@ManagementContextConfiguration(value = ManagementContextType.CHILD, proxyBeanMethods = false)
class ServerLimits implements WebServerFactoryCustomizer<ConfigurableTomcatWebServerFactory> {

  /** The share of the threads that may wait for the rest of bodies that nobody reads. */
  private static final int THREADS_PER_LINGERING = 8;

  private final int timeoutMillis;
  private final int maxLingering;

  ServerLimits(
      OrderTimeoutProperties properties, ServerProperties server, TomcatServerProperties tomcat) {
    checkForwardedHeaders(server);
    this.timeoutMillis = (int) properties.access().bodyTimeout().toMillis();
    this.maxLingering = Math.max(1, tomcat.getThreads().getMax() / THREADS_PER_LINGERING);
  }

  /** Fails if the forwarded headers of any client would be trusted. */
  static void checkForwardedHeaders(ServerProperties server) {
    if (server.getForwardHeadersStrategy() == ServerProperties.ForwardHeadersStrategy.FRAMEWORK) {
      throw new IllegalStateException(
          "server.forward-headers-strategy=framework trusts everybody's forwarded headers; use native,"
              + " and set server.tomcat.remoteip.internal-proxies to the addresses of the proxies");
    }
  }

  @Override
  public void customize(ConfigurableTomcatWebServerFactory factory) {
    factory.addEngineValves(new UnreadBodyValve(maxLingering));
    factory.addContextCustomizers(
        context -> {
          if (context.getParent() instanceof StandardHost host) {
            host.setErrorReportValveClass(MalformedRequestValve.class.getName());
          }
        });
    factory.addConnectorCustomizers(
        connector -> {
          if (connector.getProtocolHandler() instanceof AbstractHttp11Protocol<?> http) {
            http.setContinueResponseTiming("onRead");
            http.setDisableUploadTimeout(false);
            http.setConnectionUploadTimeout(timeoutMillis);
          }
        });
  }
}
