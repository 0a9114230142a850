package io.ordertimeout.local;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.embedded.EmbeddedPlatform;
import io.ordertimeout.embedded.Ports;
import io.ordertimeout.orders.OrderServiceApplication;
import io.ordertimeout.orders.operator.status.Pause;
import io.ordertimeout.orders.order.PastDueOrders.Total;
import io.ordertimeout.orders.shard.OverdueOrders;
import io.ordertimeout.orders.suspension.Suspension;
import io.ordertimeout.orders.suspension.Suspensions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.springframework.boot.Banner;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.SimpleCommandLinePropertySource;
import org.springframework.dao.DataAccessException;

/** The order service, running in this process on the embedded Postgres and Kafka. */
final class RunningService implements AutoCloseable {
  private static final String PENDING = "order.timeout.pending";

  private final ConfigurableApplicationContext context;

  private RunningService(ConfigurableApplicationContext context) {
    this.context = context;
  }

  /**
   * Starts the service. Arguments override the settings made here.
   *
   * @param minCancellations number of cancellations below which the circuit breaker ignores their
   *     ratio
   */
  static RunningService start(
      EmbeddedPlatform platform,
      int partitions,
      int minCancellations,
      int servicePort,
      int managementPort,
      String operatorPassword,
      String... arguments) {
    return new RunningService(
        new SpringApplicationBuilder(OrderServiceApplication.class)
            .bannerMode(Banner.Mode.OFF)
            .logStartupInfo(false)
            // LocalDemo stops the parts in its own order.
            .registerShutdownHook(false)
            .run(
                merge(
                    settings(
                        platform,
                        partitions,
                        minCancellations,
                        servicePort,
                        managementPort,
                        operatorPassword),
                    arguments)));
  }

  /** The settings of the service; see {@link #start}. */
  static Map<String, Object> settings(
      EmbeddedPlatform platform,
      int partitions,
      int minCancellations,
      int servicePort,
      int managementPort,
      String operatorPassword) {
    Map<String, Object> settings = new LinkedHashMap<>();
    settings.put("spring.datasource.url", platform.jdbcUrl());
    settings.put("spring.datasource.username", platform.username());
    settings.put("spring.datasource.password", platform.password());
    settings.put("spring.kafka.bootstrap-servers", platform.bootstrapServers());
    settings.put("server.address", Ports.LOOPBACK);
    settings.put("server.port", servicePort);
    settings.put("management.server.address", Ports.LOOPBACK);
    settings.put("management.server.port", managementPort);
    settings.put("order-timeout.access.operator-password", operatorPassword);
    settings.put("order-timeout.breaker.enabled", true);
    settings.put("order-timeout.breaker.min-cancellations", minCancellations);
    settings.put("order-timeout.topics.create-missing", true);
    settings.put("order-timeout.topics.attempts", Topics.ATTEMPTS);
    settings.put("order-timeout.topics.changed", Topics.CHANGED);
    settings.put("order-timeout.topics.expiring", Topics.EXPIRING);
    settings.put("order-timeout.deadline.policies[0].name", "wallet");
    settings.put("order-timeout.deadline.policies[0].payment-method", "wallet");
    settings.put("order-timeout.deadline.policies[0].timeout", "60s");
    settings.put("order-timeout.deadline.policies[0].warnings[0]", "10s");
    settings.put("order-timeout.deadline.policies[0].confirm", "1m");
    settings.put("order-timeout.deadline.policies[1].name", "others");
    settings.put("order-timeout.deadline.policies[1].timeout", "60s");
    settings.put("order-timeout.deadline.policies[1].warnings[0]", "10s");
    settings.put("order-timeout.topics.partitions", partitions);
    return settings;
  }

  private static String[] merge(Map<String, Object> settings, String... arguments) {
    SimpleCommandLinePropertySource given = new SimpleCommandLinePropertySource(arguments);
    List<String> merged = new ArrayList<>(Arrays.asList(arguments));
    settings.forEach(
        (name, value) -> {
          if (!given.containsProperty(name)) {
            merged.add("--" + name + "=" + value);
          }
        });
    return merged.toArray(String[]::new);
  }

  /** Returns the password of the user operator. */
  String operatorPassword() {
    return String.valueOf(
        context.getEnvironment().getProperty("order-timeout.access.operator-password"));
  }

  /** Returns the number of pending orders; empty until the service has registered its metrics. */
  OptionalLong pending() {
    Collection<Gauge> gauges = context.getBean(MeterRegistry.class).find(PENDING).gauges();
    double sum = gauges.stream().mapToDouble(Gauge::value).sum();
    return gauges.isEmpty() || Double.isNaN(sum)
        ? OptionalLong.empty()
        : OptionalLong.of(Math.round(sum));
  }

  /** Returns the pauses of expiry that are in force; none if Postgres does not answer. */
  List<Pause> pauses() {
    try {
      return context.getBean(Suspensions.class).inForce().stream()
          .filter(Suspension::isPause)
          .map(Pause::of)
          .toList();
    } catch (DataAccessException e) {
      return List.of();
    }
  }

  /** Returns the last count of the orders past their deadlines that pauses and holds cover. */
  Total suspended() {
    return context.getBean(OverdueOrders.class).suspended();
  }

  @Override
  public void close() {
    context.close();
  }
}
