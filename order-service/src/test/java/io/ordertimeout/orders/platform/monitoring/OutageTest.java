package io.ordertimeout.orders.platform.monitoring;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.ConnectException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.stream.Stream;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class OutageTest {

  static Stream<Throwable> outages() {
    return Stream.of(
        new TimeoutException("no broker"),
        new ConnectException("refused"),
        new SQLTransientConnectionException("no connection within 30 s"),
        new SQLException("the server closed the connection", "08006"),
        new SQLException("shut down by an administrator", "57P01"),
        new SQLException("read-only", "25006"));
  }

  @ParameterizedTest
  @MethodSource("outages")
  void failuresOfKafkaPostgresAndTheNetworkAreOutages(Throwable outage) {
    assertThat(Outage.isOutage(outage)).isTrue();
    assertThat(Outage.isOutage(new IllegalStateException("wrapped", outage))).isTrue();
  }

  static Stream<Throwable> faults() {
    return Stream.of(
        new IllegalStateException("a fault"),
        new NoClassDefFoundError("a class"),
        new SQLException("a statement is wrong", "42601"),
        new SQLException("no state"));
  }

  @ParameterizedTest
  @MethodSource("faults")
  void faultsOfTheCodeAreNot(Throwable fault) {
    assertThat(Outage.isOutage(fault)).isFalse();
  }

  @Test
  void theDescriptionPrefersWhatPostgresSaysToWhatTheNetworkSays() {
    SQLException cause = new SQLException("Connection to db:5432 refused", "08001");
    cause.initCause(new ConnectException("Connection refused"));

    assertThat(StepHealth.describe(new IllegalStateException("no data", cause)))
        .contains("no data", "Connection to db:5432 refused");
  }
}
