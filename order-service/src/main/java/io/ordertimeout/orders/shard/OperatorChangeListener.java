package io.ordertimeout.orders.shard;

import io.ordertimeout.orders.audit.AuditLog;
import io.ordertimeout.orders.audit.OperatorAction.Kind;
import io.ordertimeout.orders.deadline.PendingOrder;
import io.ordertimeout.orders.deadline.PendingOrders;
import io.ordertimeout.orders.deadline.PendingOrders.Changed;
import io.ordertimeout.orders.deadline.PendingOrders.Cursor;
import io.ordertimeout.orders.deadline.PendingOrders.Page;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.platform.postgres.SchemaMigration;
import io.ordertimeout.orders.suspension.ExpiryPauses;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Updates the wheels after operators have changed orders on any instance, and arms the orders that
 * came due during a pause once it ends.
 *
 * <p>The audit log is read every half second, and each change several times, because changes do not
 * become visible in the order of their times. Updating a wheel again changes nothing.
 */
@Component
class OperatorChangeListener {

  private static final Set<Kind> CHANGES_OF_ORDERS =
      EnumSet.of(Kind.EXTEND_ORDER, Kind.CLOSE_ORDER, Kind.CANCEL_ORDER, Kind.RELEASE_ORDER);

  private static final Duration OVERLAP = Duration.ofSeconds(5);
  private static final int PAGE = 10_000;

  private final AuditLog audit;
  private final PendingOrders orders;
  private final Shards shards;
  private final SchemaMigration schema;
  private final StepHealth health;
  private final AtomicBoolean pausesChanged = new AtomicBoolean();

  OperatorChangeListener(
      AuditLog audit,
      PendingOrders orders,
      Shards shards,
      ExpiryPauses pauses,
      SchemaMigration schema,
      StepHealthRegistry registry) {
    this.audit = audit;
    this.orders = orders;
    this.shards = shards;
    this.schema = schema;
    this.health = registry.step("operator-changes");
    pauses.onChange(() -> pausesChanged.set(true));
  }

  @Scheduled(fixedDelay = 500, timeUnit = TimeUnit.MILLISECONDS)
  void update() {
    if (!schema.isMigrated()) {
      return;
    }
    try {
      updateChanged();
      if (pausesChanged.getAndSet(false)) {
        armDue();
      }
      health.succeeded();
    } catch (RuntimeException e) {
      pausesChanged.set(true);
      health.failed("changes by operators take effect only when their orders are due", e);
    }
  }

  private void updateChanged() {
    List<String> subjects = audit.recentSubjects(CHANGES_OF_ORDERS, OVERLAP);
    if (subjects.isEmpty()) {
      return;
    }
    List<Changed> changed = orders.changed(subjects, shards.owned());
    shards.arm(changed.stream().filter(Changed::isPending).map(Changed::order).toList());
    shards.disarm(changed.stream().filter(c -> !c.isPending()).map(Changed::order).toList());
  }

  /** Orders that were held by the pause of a channel are in the wheel for a later attempt. */
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
