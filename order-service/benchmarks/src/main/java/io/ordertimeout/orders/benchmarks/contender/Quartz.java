package io.ordertimeout.orders.benchmarks.contender;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.Date;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.JobExecutionException;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.TriggerKey;
import org.quartz.impl.StdSchedulerFactory;
import org.quartz.utils.ConnectionProvider;
import org.quartz.utils.DBConnectionManager;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ScriptUtils;

/** Quartz with its JDBC store for clusters, one trigger for each order. */
final class Quartz implements TimeoutScheduler {

  private static final String ORDERS = "orders";
  private static final String DATA_SOURCE = "shop";

  private final Scheduler scheduler;
  private final JobDetail job =
      JobBuilder.newJob(ExpireOrder.class).withIdentity("expire-order").storeDurably().build();

  Quartz(HikariDataSource dataSource, ShopOrders orders) throws SchedulerException, SQLException {
    try (Connection connection = dataSource.getConnection()) {
      ScriptUtils.executeSqlScript(
          connection, new ClassPathResource("org/quartz/impl/jdbcjobstore/tables_postgres.sql"));
    }
    DBConnectionManager.getInstance().addConnectionProvider(DATA_SOURCE, provider(dataSource));
    scheduler = new StdSchedulerFactory(properties()).getScheduler();
    scheduler.getContext().put(ORDERS, orders);
    scheduler.addJob(job, true);
  }

  private static ConnectionProvider provider(HikariDataSource dataSource) {
    return new ConnectionProvider() {
      @Override
      public Connection getConnection() throws SQLException {
        return dataSource.getConnection();
      }

      @Override
      public void shutdown() {
        dataSource.close();
      }

      @Override
      public void initialize() {
        // It is open.
      }
    };
  }

  private static Properties properties() {
    Properties properties = new Properties();
    Map.of(
            "org.quartz.scheduler.instanceName", "shop",
            "org.quartz.scheduler.instanceId", "AUTO",
            "org.quartz.scheduler.batchTriggerAcquisitionMaxCount", "20",
            "org.quartz.threadPool.threadCount", String.valueOf(PeerMain.THREADS),
            "org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX",
            "org.quartz.jobStore.driverDelegateClass",
                "org.quartz.impl.jdbcjobstore.PostgreSQLDelegate",
            "org.quartz.jobStore.acquireTriggersWithinLock", "true",
            "org.quartz.jobStore.isClustered", "true",
            "org.quartz.jobStore.misfireThreshold", "3600000",
            "org.quartz.jobStore.dataSource", DATA_SOURCE)
        .forEach(properties::setProperty);
    return properties;
  }

  @Override
  public void schedule(Map<String, Instant> deadlines) {
    Set<Trigger> triggers =
        deadlines.entrySet().stream()
            .map(
                order ->
                    TriggerBuilder.newTrigger()
                        .withIdentity(order.getKey())
                        .forJob(job)
                        .startAt(Date.from(order.getValue()))
                        .build())
            .collect(Collectors.toSet());
    try {
      scheduler.scheduleJobs(Map.of(job, triggers), true);
    } catch (SchedulerException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void withdraw(Collection<String> orderIds) {
    try {
      scheduler.unscheduleJobs(orderIds.stream().map(TriggerKey::triggerKey).toList());
    } catch (SchedulerException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void start() {
    try {
      scheduler.start();
    } catch (SchedulerException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The job of a trigger, whose name is that of the order. */
  public static final class ExpireOrder implements Job {

    @Override
    public void execute(JobExecutionContext context) throws JobExecutionException {
      try {
        Object orders = context.getScheduler().getContext().get(ORDERS);
        ((ShopOrders) Objects.requireNonNull(orders))
            .expire(context.getTrigger().getKey().getName());
      } catch (SchedulerException e) {
        throw new JobExecutionException(e);
      }
    }
  }
}
