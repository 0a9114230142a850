package io.ordertimeout.orders.benchmarks.contender;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.exceptions.DbSchedulerException;
import com.github.kagkarlsson.scheduler.task.SchedulableInstance;
import com.github.kagkarlsson.scheduler.task.TaskInstanceId;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * db-scheduler with a one-time task for each order, and what its documentation recommends for a
 * high throughput: locking while fetching, and batches for scheduling.
 */
final class DbScheduler implements TimeoutScheduler {

  private static final Logger log = LoggerFactory.getLogger(DbScheduler.class);
  private static final String TASK = "expire-order";

  private final Scheduler scheduler;
  private final OneTimeTask<Void> task;

  DbScheduler(DataSource dataSource, ShopOrders orders) {
    createTable(JdbcClient.create(dataSource));
    task = Tasks.oneTime(TASK).execute((order, context) -> orders.expire(order.getId()));
    scheduler =
        Scheduler.create(dataSource, task)
            .threads(PeerMain.THREADS)
            .pollUsingLockAndFetch(0.5, 4.0)
            .pollingInterval(Duration.ofSeconds(1))
            .build();
  }

  /** As its documentation describes the table for Postgres. */
  private static void createTable(JdbcClient client) {
    client
        .sql(
            """
            create table scheduled_tasks (
              task_name            text        not null,
              task_instance        text        not null,
              task_data            bytea,
              execution_time       timestamptz,
              picked               boolean     not null,
              picked_by            text,
              last_success         timestamptz,
              last_failure         timestamptz,
              consecutive_failures integer,
              last_heartbeat       timestamptz,
              version              bigint      not null,
              priority             smallint,
              state                text,
              primary key (task_name, task_instance)
            )
            """)
        .update();
    client.sql("create index on scheduled_tasks (execution_time)").update();
    client.sql("create index on scheduled_tasks (last_heartbeat)").update();
  }

  @Override
  public void schedule(Map<String, Instant> deadlines) {
    List<SchedulableInstance<?>> instances =
        deadlines.entrySet().stream()
            .map(order -> SchedulableInstance.of(task.instance(order.getKey()), order.getValue()))
            .collect(Collectors.toList());
    scheduler.scheduleBatch(instances);
  }

  @Override
  public void withdraw(Collection<String> orderIds) {
    for (String id : orderIds) {
      try {
        scheduler.cancel(TaskInstanceId.of(TASK, id));
      } catch (DbSchedulerException e) {
        log.debug("{} is expiring or has expired", id, e);
      }
    }
  }

  @Override
  public void start() {
    scheduler.start();
  }
}
