package io.ordertimeout.it.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A burst of unusable records between real orders. */
@Tag("faults")
class GarbageBurstIT {

  private static final int ORDERS = 1_000;
  private static final int GARBAGE_PER_ORDER = 20;
  private static final String TRACE = "trace";

  private final Random random = new Random(20_260_102);

  @Test
  void realOrdersAreProcessedAmongTwentyTimesAsMuchGarbage() {
    try (Scenario scenario = Scenario.create();
        Service service = scenario.startService("order-timeout.intake.unusable-limit", "1")) {
      List<CompletableFuture<RecordMetadata>> sent = new ArrayList<>();
      Map<String, String> expected = new HashMap<>();
      for (int i = 0; i < ORDERS; i++) {
        String orderId = "order-" + i;
        boolean paid = i % 2 == 0;
        expected.put(orderId, paid ? "PAID" : "CANCELLED");
        sent.add(
            scenario
                .shop()
                .send(
                    scenario.topics().created(),
                    orderId,
                    Map.of("timeout", paid ? "PT1H" : "PT2S")));
        for (int j = 0; j < GARBAGE_PER_ORDER; j++) {
          String topic = scenario.topics().inputs().get(random.nextInt(3));
          sent.add(scenario.shop().send(garbage(topic, i * GARBAGE_PER_ORDER + j)));
        }
        if (paid) {
          sent.add(
              scenario.shop().send(scenario.topics().paid(), orderId, Map.of("paymentId", "p")));
        }
      }
      sent.forEach(Shop::await);
      scenario.awaitQuiet();
      scenario.awaitAllDecided();

      assertThat(scenario.database().states()).isEqualTo(expected);
      assertThat(scenario.outcomes().cancelled())
          .extracting(PublishedEvent::key)
          .doesNotHaveDuplicates()
          .hasSize(ORDERS / 2)
          .allMatch(orderId -> "CANCELLED".equals(expected.get(orderId)));
      List<PublishedEvent> letters = scenario.outcomes().deadLetters();
      assertThat(letters).allSatisfy(letter -> assertThat(letter.header("x-error")).isNotBlank());
      assertThat(letters.stream().map(letter -> letter.header(TRACE)).collect(Collectors.toSet()))
          .isEqualTo(
              IntStream.range(0, ORDERS * GARBAGE_PER_ORDER)
                  .mapToObj(String::valueOf)
                  .collect(Collectors.toSet()));
      assertThat(service.counter("order.timeout.events", "outcome", "dead_letter"))
          .isEqualTo((double) ORDERS * GARBAGE_PER_ORDER);
    }
  }

  private ProducerRecord<byte[], byte[]> garbage(String topic, int number) {
    byte[] value =
        switch (random.nextInt(8)) {
          case 0 -> Shop.utf8("{\"orderId\":\"a\",\"orderId\":\"b\"}");
          case 1 -> new byte[0];
          case 2 -> noise();
          case 3 -> Shop.utf8("{\"orderId\":\"order-" + number + "\"");
          case 4 -> Shop.utf8("{\"orderId\":" + random.nextInt() + "}");
          case 5 -> Shop.utf8("{\"orderId\":\"" + "x".repeat(129 + random.nextInt(5_000)) + "\"}");
          case 6 -> Shop.utf8("[".repeat(1 + random.nextInt(2_000)));
          default -> Shop.utf8("{\"paymentId\":1e2147483648}");
        };
    byte @Nullable [] key = random.nextBoolean() ? null : noise();
    ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, key, value);
    record.headers().add(TRACE, Shop.utf8(String.valueOf(number)));
    return record;
  }

  // No JSON text starts with this byte.
  private byte[] noise() {
    byte[] noise = new byte[1 + random.nextInt(50)];
    random.nextBytes(noise);
    noise[0] = (byte) 0xFF;
    return noise;
  }
}
