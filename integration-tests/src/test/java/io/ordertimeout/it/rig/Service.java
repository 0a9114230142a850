package io.ordertimeout.it.rig;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.OrderServiceApplication;
import java.util.Map;
import org.springframework.boot.Banner;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The service in this process. */
public final class Service implements AutoCloseable {

  private final ConfigurableApplicationContext context;

  private Service(ConfigurableApplicationContext context) {
    this.context = context;
  }

  public static Service start(Map<String, String> settings) {
    return new Service(
        new SpringApplicationBuilder(OrderServiceApplication.class)
            .bannerMode(Banner.Mode.OFF)
            .logStartupInfo(false)
            .registerShutdownHook(false)
            .run(
                settings.entrySet().stream()
                    .map(entry -> "--" + entry.getKey() + "=" + entry.getValue())
                    .toArray(String[]::new)));
  }

  /** The sum of a gauge over its tags. */
  public double gauge(String name) {
    return meters().find(name).gauges().stream().mapToDouble(Gauge::value).sum();
  }

  /** The sum of a counter over those of its series that have the tags. */
  public double counter(String name, String... tags) {
    return meters().find(name).tags(tags).counters().stream().mapToDouble(Counter::count).sum();
  }

  private MeterRegistry meters() {
    return context.getBean(MeterRegistry.class);
  }

  /** Stops it as an operator does. */
  @Override
  public void close() {
    context.close();
  }
}
