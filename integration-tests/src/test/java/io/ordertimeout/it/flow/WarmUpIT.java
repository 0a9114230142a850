package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Interceptors;
import io.ordertimeout.it.support.LogCapture;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.system.CapturedOutput;

/** The exercise before the first event is read, with orders that do not exist. */
@ExtendWith(LogCapture.class)
class WarmUpIT {

  private static final String[] WARM_UP = {
    // Few connections, so that others use the one of the warm-up afterwards.
    "order-timeout.intake.warm-up", "1s", "spring.datasource.hikari.maximum-pool-size", "3"
  };

  private static final int ORDERS = 30;

  @Test
  void theWarmUpLeavesNothingBehind(CapturedOutput output) {
    try (Scenario scenario = Scenario.create();
        Service service = scenario.startService(WARM_UP)) {
      service.awaitReady(true);

      assertThat(output.toString()).containsPattern("Warm-up processed [1-9]\\d+ dummy orders");
      assertThat(scenario.database().count("select count(*) from order_deadline")).isZero();
      assertThat(scenario.database().count("select count(*) from outbox")).isZero();
      assertThat(scenario.outcomes().cancelled()).isEmpty();
      assertThat(
              service.counter("order.timeout.events", "event", "created", "outcome", "registered"))
          .isZero();
      assertOrdersAreDecided(scenario);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"public, pg_temp", "pg_catalog, pg_temp, public", "apart, public"})
  void theWarmUpWritesIntoNoTableOfTheServiceWhateverTheSearchPath(
      String searchPath, CapturedOutput output) {
    try (Scenario scenario = Scenario.create()) {
      scenario.database().execute("create schema apart");
      scenario
          .database()
          .execute("alter database " + scenario.name() + " set search_path = " + searchPath);
      try (Service service = startWithTablesInPublic(scenario, List.of())) {
        service.awaitReady(true);

        assertThat(output.toString()).containsPattern("Warm-up processed [1-9]\\d+ dummy orders");
        assertNoRowWasEverWritten(scenario);
        assertOrdersAreDecided(scenario);
      }
    }
  }

  @Test
  void ifTemporaryTablesAreNotFoundFirstTheServiceStartsWithoutIt(CapturedOutput output) {
    try (Scenario scenario = Scenario.create()) {
      scenario
          .database()
          .execute("alter database " + scenario.name() + " set search_path = public, pg_temp");
      try (Service service =
          startWithTablesInPublic(scenario, List.of(statements(WarmUpIT::leaveTheSearchPath)))) {
        service.awaitReady(true);

        assertThat(output.toString()).contains("No warm-up").contains("order_deadline");
        assertNoRowWasEverWritten(scenario);
        assertOrdersAreDecided(scenario);
      }
    }
  }

  private static Service startWithTablesInPublic(
      Scenario scenario, List<BeanPostProcessor> interceptors) {
    String[] settings = Arrays.copyOf(WARM_UP, WARM_UP.length + 2);
    settings[WARM_UP.length] = "spring.flyway.default-schema";
    settings[WARM_UP.length + 1] = "public";
    return scenario.startService(interceptors, settings);
  }

  /** Ids that were used are gone, even if the transaction was rolled back. */
  private static void assertNoRowWasEverWritten(Scenario scenario) {
    String ids = scenario.database().text("select pg_get_serial_sequence('order_deadline', 'id')");
    assertThat(scenario.database().count("select count(*) from " + ids + " where is_called"))
        .as("used ids")
        .isZero();
  }

  @Test
  void aUserWhoMayNotCreateTemporaryTablesStartsWithoutIt(CapturedOutput output) {
    try (Scenario scenario = Scenario.create();
        Service service =
            scenario.startService(List.of(statements(WarmUpIT::refuseTemporaryTables)), WARM_UP)) {
      service.awaitReady(true);

      assertThat(output.toString()).contains("No warm-up").contains("permission denied");
      assertOrdersAreDecided(scenario);
    }
  }

  /** The warm-up ends while what was published is read back, which begins at the same time. */
  @Test
  void theWarmUpIsNotTakenForAnotherServerOfPostgres(CapturedOutput output) {
    try (Scenario scenario = Scenario.create();
        Service service = scenario.startService(List.of(readBackEndsAfterWarmUp()), WARM_UP)) {
      service.awaitReady(true);

      assertThat(output.toString())
          .contains("Warm-up processed", "Postgres reflects everything that was published")
          .doesNotContain("read-back failed");
    }
  }

  private static BeanPostProcessor readBackEndsAfterWarmUp() {
    CountDownLatch warm = new CountDownLatch(1);
    return Interceptors.made(
        DataSource.class,
        Connection.class,
        call -> {
          String method = call.getMethod().getName();
          // The last statement of the read-back; decisions contain its condition, too.
          if (method.equals("prepareStatement")
              && Thread.currentThread().getName().equals("read-back")
              && call.getArguments()[0].toString().contains("p.next_offset >= e.next_offset")) {
            assertThat(warm.await(1, TimeUnit.MINUTES)).as("the warm-up has ended").isTrue();
          }
          Object result = call.proceed();
          if (method.equals("rollback")) {
            warm.countDown();
          }
          return result;
        });
  }

  private static void assertOrdersAreDecided(Scenario scenario) {
    for (int i = 0; i < ORDERS; i++) {
      int partition = i % Scenario.PARTITIONS;
      scenario.create("unpaid-" + i, partition, Scenario.in(Duration.ofSeconds(1)));
      scenario.create("paid-" + i, partition, Scenario.in(Duration.ofHours(1)));
      scenario.pay("paid-" + i, partition);
    }
    scenario.awaitAllDecided();
    assertThat(scenario.outcomes().cancelled())
        .hasSize(ORDERS)
        .allSatisfy(event -> assertThat(event.key()).startsWith("unpaid-"));
  }

  /** Wraps the statements without parameters. */
  private static BeanPostProcessor statements(MethodInterceptor interceptor) {
    return Interceptors.made(
        DataSource.class,
        Connection.class,
        call -> {
          Object result = call.proceed();
          return call.getMethod().getName().equals("createStatement")
              ? Interceptors.around(Statement.class, Objects.requireNonNull(result), interceptor)
              : result;
        });
  }

  private static @Nullable Object leaveTheSearchPath(MethodInvocation call) throws Throwable {
    Object[] arguments = call.getArguments();
    if (arguments.length > 0 && arguments[0].toString().contains("'search_path'")) {
      arguments[0] = "select 'unchanged'";
    }
    return call.proceed();
  }

  private static @Nullable Object refuseTemporaryTables(MethodInvocation call) throws Throwable {
    Object[] arguments = call.getArguments();
    if (arguments.length > 0 && arguments[0].toString().contains("temporary table")) {
      throw new SQLException("permission denied to create temporary tables", "42501");
    }
    return call.proceed();
  }
}
