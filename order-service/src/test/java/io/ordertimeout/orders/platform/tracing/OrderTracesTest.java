package io.ordertimeout.orders.platform.tracing;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.tracing.propagation.Propagator;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.UUID;
import java.util.function.Consumer;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.ConfigDataApplicationContextInitializer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

class OrderTracesTest {

  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String PARENT = "00-" + TRACE + "-b7ad6b7169203331-01";
  private static final String TRACEPARENT = "00-[0-9a-f]{32}-[0-9a-f]{16}-0[13]";

  @Configuration(proxyBeanMethods = false)
  @EnableConfigurationProperties(OrderTimeoutProperties.class)
  @Import({TracingConfiguration.class, OrderTraces.class})
  static class TracingTestConfiguration {

    @Bean
    DatabaseClock databaseClock() {
      DatabaseClock clock =
          new DatabaseClock(() -> Instant.EPOCH, System::nanoTime, Clock.systemUTC());
      clock.set();
      return clock;
    }
  }

  private final ApplicationContextRunner defaults =
      new ApplicationContextRunner()
          .withInitializer(new ConfigDataApplicationContextInitializer())
          .withUserConfiguration(TracingTestConfiguration.class);

  @Test
  void areOffByDefault() {
    defaults.run(
        started -> {
          OrderTraces traces = started.getBean(OrderTraces.class);
          assertThat(started).doesNotHaveBean(Propagator.class);
          assertThat(intake(traces, headers(PARENT))).isNull();
          assertThat(publish(traces, PARENT)).isNull();
        });
  }

  @Test
  void continueFromTheHeaderThroughTheOrderToItsEvent() {
    withTracing(
        traces -> {
          String stored = Objects.requireNonNull(intake(traces, headers(PARENT)));
          assertThat(stored).matches(TRACEPARENT).contains(TRACE).isNotEqualTo(PARENT);

          String published = publish(traces, stored);
          assertThat(published).matches(TRACEPARENT).contains(TRACE).isNotIn(PARENT, stored);
        });
  }

  @Test
  void areNotRecordedIfTheProducerDidNotSample() {
    withTracing(
        traces -> assertThat(intake(traces, headers(PARENT.replaceFirst("01$", "00")))).isNull());
  }

  @Test
  void useTheLastOfSeveralHeaders() {
    withTracing(
        traces -> {
          Headers headers = headers(PARENT.replace(TRACE, "1" + TRACE.substring(1)));
          headers.add("traceparent", PARENT.getBytes(ISO_8859_1));
          assertThat(intake(traces, headers)).contains(TRACE);
        });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "00",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "00-0AF7651916CD43DD8448EB211C80319C-B7AD6B7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        "\u0000\uffff",
      })
  void startNewlyIfTheHeaderIsInvalid(String invalid) {
    withTracing(
        traces ->
            assertThat(intake(traces, headers(invalid)))
                .matches(TRACEPARENT)
                .doesNotContainIgnoringCase(TRACE));
  }

  @Test
  void startNewlyIfTheHeaderIsMissingNullOrTooLong() {
    withTracing(
        traces -> {
          Headers none = new RecordHeaders();
          Headers empty = new RecordHeaders().add("traceparent", null);
          Headers tooLong = headers("01" + PARENT.substring(2) + "-x".repeat(500_000));
          for (Headers headers : List.of(none, empty, tooLong)) {
            assertThat(intake(traces, headers)).matches(TRACEPARENT).doesNotContain(TRACE);
          }
        });
  }

  @Test
  void acceptAnyBytesInTheHeaders() {
    Random random = new Random(5);
    withTracing(
        traces -> {
          for (int i = 0; i < 20_000; i++) {
            byte[] parent = PARENT.getBytes(ISO_8859_1);
            byte[] state = "a=1,b=2".getBytes(ISO_8859_1);
            parent[random.nextInt(parent.length)] = (byte) random.nextInt();
            state[random.nextInt(state.length)] = (byte) random.nextInt();
            Headers headers =
                new RecordHeaders().add("traceparent", parent).add("tracestate", state);
            String stored = intake(traces, headers);
            if (stored != null) {
              assertThat(stored).matches(TRACEPARENT);
            }
          }
        });
  }

  private void withTracing(Consumer<OrderTraces> test) {
    defaults
        .withPropertyValues(
            "management.tracing.export.enabled=true", "management.tracing.sampling.probability=1")
        .run(started -> test.accept(started.getBean(OrderTraces.class)));
  }

  private static @Nullable String intake(OrderTraces traces, Headers headers) {
    OrderSpan span = traces.startIntake("o", "order-created", 3, 7, headers);
    return span == null ? null : span.traceparent();
  }

  private static @Nullable String publish(OrderTraces traces, String stored) {
    OrderSpan span = traces.startPublication(stored, "o", "order-cancelled", new UUID(1, 2));
    if (span == null) {
      return null;
    }
    Headers headers = new RecordHeaders();
    span.injectInto(headers);
    Header header = headers.lastHeader("traceparent");
    return new String(header.value(), ISO_8859_1);
  }

  private static Headers headers(String traceparent) {
    return new RecordHeaders().add("traceparent", traceparent.getBytes(ISO_8859_1));
  }
}
