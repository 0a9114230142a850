package io.ordertimeout.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OptionsParserTest {

  @Test
  void defaults() {
    assertThat(OptionsParser.parse())
        .isEqualTo(
            new LocalOptions(
                null,
                Path.of(".local/data"),
                9092,
                5432,
                8080,
                8081,
                6,
                Duration.ofSeconds(5),
                new LocalOptions.Traffic(
                    true,
                    20,
                    Duration.ofSeconds(20),
                    Duration.ofSeconds(60),
                    Duration.ofMinutes(15),
                    0.85,
                    true,
                    null),
                null));
    assertThat(OptionsParser.parse().dataDirectory()).isAbsolute();
  }

  @Test
  void commandLine() {
    LocalOptions options =
        OptionsParser.parse(
            "--local.kafka=kafka:19092",
            "--local.traffic.enabled=false",
            "--local.traffic.orders-per-second=0.5",
            "--local.traffic.seed=42",
            "--local.traffic.timeout-max=2m",
            "--local.data-directory=/elsewhere",
            "--local.kafka-port=0",
            "--local.postgres-port=0",
            "--local.report-interval=500ms",
            "--server.address=0.0.0.0");

    assertThat(options.kafka()).isEqualTo("kafka:19092");
    assertThat(options.traffic().enabled()).isFalse();
    assertThat(options.traffic().ordersPerSecond()).isEqualTo(0.5);
    assertThat(options.traffic().seed()).isEqualTo(42);
    assertThat(options.traffic().timeoutMax()).isEqualTo(Duration.ofMinutes(2));
    assertThat(options.dataDirectory()).isEqualTo(Path.of("/elsewhere").toAbsolutePath());
    assertThat(options.kafkaPort()).isZero();
    assertThat(options.reportInterval()).isEqualTo(Duration.ofMillis(500));
  }

  @ParameterizedTest
  @CsvSource({"2m, 90s, 300", "2m, 4m, 600"})
  void mostPendingOrdersAreThoseOfTheLongestTimeout(String max, String storeMax, int orders) {
    assertThat(
            OptionsParser.parse(
                    "--local.traffic.orders-per-second=2.5",
                    "--local.traffic.timeout-max=" + max,
                    "--local.traffic.store-timeout-max=" + storeMax)
                .traffic()
                .mostPending())
        .isEqualTo(orders);
  }

  @ParameterizedTest
  @CsvSource({
    "local.partitions, 0, 0",
    "local.kafka-port, 65536, 65536",
    "local.management-port, 8080, 8080",
    "local.kafka-port, many, many",
    "local.report-interval, 0s, PT0S",
    "local.traffic.orders-per-second, -1, -1.0",
    "local.traffic.orders-per-second, some, some",
    "local.traffic.paid-ratio, 1.5, 1.5",
    "local.traffic.timeout-min, -1s, PT-1S",
    "local.traffic.timeout-max, 5s, PT5S",
    "local.traffic.timeout-max, soon, soon"
  })
  void messageNamesOptionAndValue(String name, String value, String shown) {
    assertThatThrownBy(() -> OptionsParser.parse("--" + name + "=" + value))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining("local.")
        .hasMessageContaining(name.substring(name.lastIndexOf('.') + 1))
        .hasMessageEndingWith(": " + shown);
  }

  @ParameterizedTest
  @ValueSource(strings = {"report-interval", "traffic.timeout-min", "traffic.timeout-max"})
  void durationNeedsAUnit(String option) {
    assertThatThrownBy(() -> OptionsParser.parse("--local." + option + "=90"))
        .hasMessage("local." + option + " is not a duration such as 30s or 5m: 90");
  }

  @Test
  void unknownOptionIsAnError() {
    assertThatThrownBy(() -> OptionsParser.parse("--local.trafic.enabled=false"))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessage("Unknown option: local.trafic.enabled");
  }
}
