package io.ordertimeout.orders.operator.status;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.operator.status.InstanceReport.ShardReport;
import io.ordertimeout.orders.platform.loop.PeriodicTasks;
import io.ordertimeout.orders.platform.monitoring.ActivityCounters;
import io.ordertimeout.orders.platform.monitoring.InstanceName;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.platform.postgres.SchemaMigration;
import io.ordertimeout.orders.relay.OutboxRelay;
import io.ordertimeout.orders.shard.OverdueOrders;
import io.ordertimeout.orders.shard.Shards;
import jakarta.annotation.PreDestroy;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.info.BuildProperties;
import org.springframework.stereotype.Component;

/**
 * Reports this instance's status and activity to Postgres, every second or, if nothing has changed,
 * every few seconds, so that every instance can show the status of all instances.
 */
@Component
class InstanceReporter {

  private static final Logger log = LoggerFactory.getLogger(InstanceReporter.class);

  private static final Duration INTERVAL = Duration.ofSeconds(1);

  /** A report in which nothing has changed is stored again only after so many turns. */
  private static final int TURNS_UNCHANGED = 5;

  private final InstanceName name;
  private final Shards shards;
  private final OverdueOrders overdue;
  private final OutboxRelay relay;
  private final DueAmounts amounts;
  private final ActivityCounters activity;
  private final ActivityByMinute activityByMinute;
  private final InstanceReports reports;
  private final DatabaseClock clock;
  private final SchemaMigration schema;
  private final StepHealthRegistry registry;
  private final String version;
  private @Nullable Instant startedAt;
  private ActivityCounters.Counts reported;
  private @Nullable InstanceReport saved;
  private int turnsUnchanged;
  private volatile List<Long> dueByMinute = Collections.nCopies(InstanceReport.MINUTES, 0L);

  InstanceReporter(
      InstanceName name,
      Shards shards,
      OverdueOrders overdue,
      OutboxRelay relay,
      DueAmounts amounts,
      ActivityCounters activity,
      ActivityByMinute activityByMinute,
      InstanceReports reports,
      DatabaseClock clock,
      SchemaMigration schema,
      StepHealthRegistry registry,
      PeriodicTasks tasks,
      ObjectProvider<BuildProperties> build,
      MeterRegistry meters) {
    this.name = name;
    this.shards = shards;
    this.overdue = overdue;
    this.relay = relay;
    this.amounts = amounts;
    this.activity = activity;
    this.activityByMinute = activityByMinute;
    this.reports = reports;
    this.clock = clock;
    this.schema = schema;
    this.registry = registry;
    this.reported = activity.counts();
    BuildProperties built = build.getIfAvailable();
    String known = built == null ? null : built.getVersion();
    this.version = known == null ? "unknown" : known;
    for (int minutes : InstanceReport.WINDOWS) {
      Gauge.builder("order.timeout.forecast", this, r -> r.dueWithin(minutes))
          .description("Pending orders of this instance that come due within the window")
          .tag("window", minutes + "m")
          .register(meters);
    }
    tasks.repeat(
        "instance-report", INTERVAL, "the console shows no news of this instance", this::reportNow);
  }

  private double dueWithin(int minutes) {
    return dueByMinute.stream().limit(minutes).mapToLong(Long::longValue).sum();
  }

  private void reportNow() throws InterruptedException {
    if (schema.isMigrated() && clock.isSet()) {
      dueByMinute = DueOrders.byMinute(shards);
      save(report());
      reportActivity();
    }
  }

  private void save(InstanceReport report) {
    if (report.equals(saved) && ++turnsUnchanged < TURNS_UNCHANGED) {
      return;
    }
    saved = null;
    reports.save(name.text(), report);
    saved = report;
    turnsUnchanged = 0;
  }

  private InstanceReport report() {
    Instant since = startedAt;
    if (since == null) {
      since = clock.now();
      startedAt = since;
    }
    TreeMap<String, Long> failing = new TreeMap<>();
    registry.failing().forEach((failed, duration) -> failing.put(failed, duration.toSeconds()));
    DueAmounts.Sums sums = amounts.sums();
    return new InstanceReport(
        since,
        version,
        clock.offset().toMillis(),
        failing,
        shards.status().stream()
            .map(
                s ->
                    new ShardReport(
                        s.shard(),
                        s.pending(),
                        s.rebuilding(),
                        s.watermarkLag().toMillis(),
                        s.held()))
            .toList(),
        overdue.parked(),
        relay.unpublished(),
        dueByMinute,
        sums.asOf(),
        sums.byMinute(),
        sums.byChannel());
  }

  private void reportActivity() {
    ActivityCounters.Counts now = activity.counts();
    if (!now.equals(reported)) {
      activityByMinute.add(name.text(), now.since(reported));
      reported = now;
    }
  }

  /** Takes the report back, after the last one was made. */
  @PreDestroy
  void delete() {
    if (schema.isMigrated()) {
      try {
        reports.delete(name.text());
      } catch (RuntimeException e) {
        log.warn("The console shows this instance as silent: {}", StepHealth.describe(e));
      }
    }
  }
}
