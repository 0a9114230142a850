package io.ordertimeout.orders.platform.monitoring;

import io.ordertimeout.orders.OrderTimeoutProperties;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Objects;
import org.springframework.stereotype.Component;

/**
 * The name by which operators tell this instance from others: its configured {@code instance-id},
 * else its host name and process id.
 */
@Component
public class InstanceName {

  private final String text;

  InstanceName(OrderTimeoutProperties properties) {
    this.text =
        Objects.requireNonNullElseGet(
            properties.intake().instanceId(), () -> host() + "-" + ProcessHandle.current().pid());
  }

  private static String host() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "unknown-host";
    }
  }

  public String text() {
    return text;
  }
}
