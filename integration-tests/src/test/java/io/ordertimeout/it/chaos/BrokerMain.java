package io.ordertimeout.it.chaos;

import io.ordertimeout.embedded.EmbeddedKafka;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/**
 * Main class of a broker process. Arguments: its directory, its port, the port behind the proxy and
 * the port of the proxy.
 */
final class BrokerMain {

  private BrokerMain() {}

  public static void main(String[] args) throws IOException, InterruptedException {
    try (EmbeddedKafka kafka =
        new EmbeddedKafka(
            Path.of(args[0]),
            Integer.parseInt(args[1]),
            new EmbeddedKafka.ProxiedListener(
                Integer.parseInt(args[2]), Integer.parseInt(args[3])))) {
      kafka.start();
      new CountDownLatch(1).await(); // until it is killed
    }
  }
}
