package io.ordertimeout.orders.platform.monitoring;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Objects;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.info.BuildProperties;
import org.springframework.stereotype.Component;

/** Which version runs, as labels of a metric that is always 1. */
@Component
class BuildMetrics implements MeterBinder {

  private final ObjectProvider<BuildProperties> build;

  BuildMetrics(ObjectProvider<BuildProperties> build) {
    this.build = build;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    BuildProperties built = build.getIfAvailable();
    String version = built == null ? null : built.getVersion();
    Gauge.builder("order.timeout.build.info", () -> 1)
        .description("Always 1; its labels are the version of the service and that of Java")
        .tag("version", Objects.requireNonNullElse(version, "unknown"))
        .tag("java", Runtime.version().toString())
        .register(registry);
  }
}
