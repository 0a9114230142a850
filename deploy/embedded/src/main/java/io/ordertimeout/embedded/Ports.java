package io.ordertimeout.embedded;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Free ports of the loopback address. */
public final class Ports {
  private static final Logger log = LoggerFactory.getLogger(Ports.class);

  public static final String LOOPBACK = "127.0.0.1";

  private static final int FIRST = 20_000;
  private static final int COUNT = 10_000;
  private static final AtomicInteger NEXT =
      new AtomicInteger(ThreadLocalRandom.current().nextInt(COUNT));

  private Ports() {}

  /**
   * Returns the preferred port if nobody listens on it, otherwise any free one, with a warning.
   *
   * @param user the server's name for the warning
   * @param preferred 0 for any free port
   */
  public static int free(String user, int preferred) {
    if (preferred == 0) {
      return any();
    }
    if (isFree(preferred)) {
      return preferred;
    }
    int other = any();
    log.warn("Port {} for {} is taken, using {} instead", preferred, user, other);
    return other;
  }

  /**
   * Returns a port on which nobody listens and which this JVM has not been given before.
   *
   * <p>It lies below the range from which operating systems take ports for outgoing connections, so
   * that no connection occupies it before its server starts, or while its server is stopped.
   */
  public static int any() {
    for (int attempt = 0; attempt < COUNT; attempt++) {
      int port = FIRST + Math.floorMod(NEXT.getAndIncrement(), COUNT);
      if (isFree(port)) {
        return port;
      }
    }
    throw new IllegalStateException(
        "No free port on " + LOOPBACK + " from " + FIRST + " to " + (FIRST + COUNT - 1));
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      // A connection in TIME_WAIT, left by the last run, does not count as taken.
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port));
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
