package io.ordertimeout.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Free ports of the loopback address. */
public final class Ports {
  private static final Logger log = LoggerFactory.getLogger(Ports.class);

  public static final String LOOPBACK = "127.0.0.1";

  private Ports() {}

  /** The preferred port if nobody listens on it, else any free one, which the log tells. */
  public static int free(String user, int preferred) {
    if (preferred == 0) {
      return any();
    }
    try {
      return bind(preferred);
    } catch (IOException e) {
      int other = any();
      log.warn("Port {} for {} is taken, using {} instead", preferred, user, other);
      return other;
    }
  }

  static int any() {
    try {
      return bind(0);
    } catch (IOException e) {
      throw new UncheckedIOException("No free port on " + LOOPBACK, e);
    }
  }

  private static int bind(int port) throws IOException {
    try (ServerSocket socket = new ServerSocket()) {
      // A connection in TIME_WAIT, left by the last run, does not count as taken.
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port));
      return socket.getLocalPort();
    }
  }
}
