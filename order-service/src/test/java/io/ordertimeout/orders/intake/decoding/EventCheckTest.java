package io.ordertimeout.orders.intake.decoding;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.intake.decoding.EventCheck.Outcome;
import io.ordertimeout.orders.intake.decoding.EventCheck.Result;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

class EventCheckTest {

  private static final Instant NOW = Instant.parse("2026-05-01T12:00:00Z");

  private final OrderTimeoutProperties properties =
      new Binder(
              new MapConfigurationPropertySource(
                  Map.of("order-timeout.intake.formats.closed", "debezium")))
          .bindOrCreate("order-timeout", OrderTimeoutProperties.class);
  private final EventCheck check =
      new EventCheck(
          new EventDecoder(properties, new PaymentDeadlines(properties), Decoders.of(properties)),
          properties);

  @Test
  void tellsWhatACreatedOrderWouldBe() {
    assertThat(check("order-created", "o", "{\"orderId\":\"o\",\"timeout\":\"PT1M\"}"))
        .isEqualTo(
            new Outcome(Result.CREATED, "o", NOW.plusSeconds(60), "TIMEOUT", null, NOW, 0, null));
  }

  @Test
  void tellsWhatAPaymentAndAClosingWouldBe() {
    assertThat(check("order-paid", "x", "{\"orderId\":\"o\",\"paymentId\":\"p\",\"paidAt\":7}"))
        .isEqualTo(
            new Outcome(
                Result.PAID,
                "o",
                null,
                null,
                "p",
                NOW,
                1,
                "the key is not the order id; it was applied nevertheless"));
    assertThat(check("order-closed", "o", "{\"op\":\"c\",\"after\":{\"orderId\":\"o\"}}"))
        .isEqualTo(new Outcome(Result.CLOSED, "o", null, null, null, NOW, 0, null));
  }

  @Test
  void tellsWhatIsIgnoredOrADeadLetterAndWhy() {
    assertThat(check("order-closed", "o", null).result()).isEqualTo(Result.IGNORED);
    Outcome letter = check("order-paid", "o", "garbage");
    assertThat(letter.result()).isEqualTo(Result.DEAD_LETTER);
    assertThat(letter.orderId()).isEqualTo("o");
    assertThat(letter.fault()).contains("not JSON", "parked");
  }

  @Test
  void refusesOtherTopicsByName() {
    assertThatThrownBy(() -> check("orders", "o", "{}"))
        .hasMessage(
            "'orders' is not an input topic; the input topics are [order-closed, order-created,"
                + " order-paid]");
  }

  private Outcome check(String topic, String key, @Nullable String value) {
    return check.check(
        HostileRecords.record(
            topic,
            NOW.toEpochMilli(),
            key.getBytes(UTF_8),
            value == null ? null : value.getBytes(UTF_8)),
        NOW);
  }
}
