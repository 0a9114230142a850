package io.ordertimeout.orders.benchmarks.servers;

import io.ordertimeout.embedded.EmbeddedKafka;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** A Kafka broker as a process of its own. */
final class BrokerMain {

  private BrokerMain() {}

  /** Runs the broker in a directory and on a port until the process is killed. */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    try (EmbeddedKafka kafka =
        new EmbeddedKafka(Path.of(arguments[0]), Integer.parseInt(arguments[1]), List.of())) {
      kafka.start();
      new CountDownLatch(1).await();
    }
  }
}
