package io.ordertimeout.it.support;

import io.ordertimeout.embedded.EmbeddedKafka;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;

/** A broker of a {@link KafkaCluster} as a process of its own. */
final class BrokerMain {

  private BrokerMain() {}

  static List<String> arguments(
      Path directory, int port, EmbeddedKafka.ProxiedListener proxied, EmbeddedKafka.Member place) {
    return List.of(
        directory.toString(),
        String.valueOf(port),
        String.valueOf(proxied.port()),
        String.valueOf(proxied.advertisedPort()),
        place.clusterId(),
        String.valueOf(place.nodeId()),
        place.controllerPorts().stream().map(String::valueOf).collect(Collectors.joining(",")));
  }

  public static void main(String[] args) throws IOException, InterruptedException {
    try (EmbeddedKafka kafka =
        new EmbeddedKafka(
            Path.of(args[0]),
            Integer.parseInt(args[1]),
            new EmbeddedKafka.ProxiedListener(Integer.parseInt(args[2]), Integer.parseInt(args[3])),
            new EmbeddedKafka.Member(
                args[4],
                Integer.parseInt(args[5]),
                Arrays.stream(args[6].split(",")).map(Integer::valueOf).toList()))) {
      kafka.start();
      new CountDownLatch(1).await(); // until it is killed
    }
  }
}
