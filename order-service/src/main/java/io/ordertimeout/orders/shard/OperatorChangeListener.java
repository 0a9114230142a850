package io.ordertimeout.orders.shard;

import io.ordertimeout.orders.deadline.PendingOrder;
import io.ordertimeout.orders.deadline.PendingOrders;
import io.ordertimeout.orders.deadline.PendingOrders.Cursor;
import io.ordertimeout.orders.deadline.PendingOrders.Page;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.platform.postgres.SchemaMigration;
import io.ordertimeout.orders.suspension.ExpiryPauses;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Tells the wheels what operators have changed in Postgres, on whichever instance they did: orders
 * that are due at another time now or pending no more, and all that came due while a pause held
 * them. Looks every half second, and at each change several times, since changes do not become
 * visible in the order of their times; telling a wheel again changes nothing.
 */
@Component
class OperatorChangeListener {

  private static final String CHANGED =
      """
      select distinct d.id, d.shard, d.state = 'PENDING' as pending, d.deadline
      from operator_action a join order_deadline d on d.order_id = a.subject
      where a.at > clock_timestamp() - interval '5 s'
        and a.action in ('EXTEND_ORDER', 'CLOSE_ORDER', 'CANCEL_ORDER', 'RELEASE_ORDER')
        and d.shard = any(?::int[])
        and not exists (select from parked_order p where p.order_id = d.order_id)
      """;

  private static final int PAGE = 10_000;

  private record Changed(PendingOrder order, boolean pending) {}

  private final JdbcTemplate jdbc;
  private final PendingOrders orders;
  private final Shards shards;
  private final SchemaMigration schema;
  private final StepHealth step;
  private final AtomicBoolean pausesChanged = new AtomicBoolean();

  OperatorChangeListener(
      JdbcTemplate jdbc,
      PendingOrders orders,
      Shards shards,
      ExpiryPauses pauses,
      SchemaMigration schema,
      StepHealthRegistry steps) {
    this.jdbc = jdbc;
    this.orders = orders;
    this.shards = shards;
    this.schema = schema;
    this.step = steps.step("operator-changes");
    pauses.onChange(() -> pausesChanged.set(true));
  }

  @Scheduled(fixedDelay = 500, timeUnit = TimeUnit.MILLISECONDS)
  void tell() {
    if (!schema.isMigrated()) {
      return;
    }
    try {
      tellChanged();
      if (pausesChanged.getAndSet(false)) {
        armDue();
      }
      step.succeeded();
    } catch (RuntimeException e) {
      pausesChanged.set(true);
      step.failed("the wheels learn of what operators changed only when it is due", e);
    }
  }

  private void tellChanged() {
    int[] owned = shards.owned().stream().mapToInt(Integer::intValue).toArray();
    List<Changed> changed =
        jdbc.query(
            CHANGED,
            (rs, row) ->
                new Changed(
                    PendingOrder.of(
                        rs.getLong("id"),
                        rs.getInt("shard"),
                        rs.getObject("deadline", OffsetDateTime.class).toInstant()),
                    rs.getBoolean("pending")),
            (Object) owned);
    shards.arm(changed.stream().filter(Changed::pending).map(Changed::order).toList());
    shards.disarm(changed.stream().filter(c -> !c.pending()).map(Changed::order).toList());
  }

  /** What a channel's pause held is in the wheel for a later look. */
  private void armDue() {
    for (int shard : shards.owned()) {
      Cursor cursor = null;
      do {
        Page page = orders.page(shard, cursor, PAGE);
        long now = shards.wheelTimeMillis();
        List<PendingOrder> due = new ArrayList<>();
        for (int i = 0; i < page.size() && page.deadlinesMillis()[i] <= now; i++) {
          due.add(new PendingOrder(page.ids()[i], shard, page.deadlinesMillis()[i]));
        }
        shards.arm(due);
        cursor = due.size() == page.size() ? page.last() : null;
      } while (cursor != null);
    }
  }
}
