package io.ordertimeout.orders.shard;

import io.ordertimeout.orders.audit.AuditLog;
import io.ordertimeout.orders.audit.AuditLog.Recent;
import io.ordertimeout.orders.audit.OperatorAction;
import io.ordertimeout.orders.order.PendingOrder;
import io.ordertimeout.orders.order.PendingOrders;
import io.ordertimeout.orders.order.PendingOrders.Changed;
import io.ordertimeout.orders.order.PendingOrders.Cursor;
import io.ordertimeout.orders.order.PendingOrders.Page;
import io.ordertimeout.orders.platform.loop.PeriodicTasks;
import io.ordertimeout.orders.platform.postgres.CachedRead;
import io.ordertimeout.orders.platform.postgres.ChangeDetector;
import io.ordertimeout.orders.platform.postgres.SchemaMigration;
import io.ordertimeout.orders.suspension.Suspensions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.springframework.stereotype.Component;

/**
 * Updates the wheels after operators have changed orders on any instance, and arms the orders that
 * came due during a pause or hold once it ends.
 *
 * <p>The audit log is read whenever it has changed, behind the last action that was read. Actions
 * become visible a little out of order, so the last minute is read again for actions that were not
 * there before; O(actions of the last minute).
 */
@Component
class OperatorChangeListener {

  /** Longer than any transaction: after that, no action with a lower id becomes visible. */
  private static final Duration OVERLAP = Duration.ofMinutes(1);

  private static final Duration INTERVAL = Duration.ofMillis(500);

  private static final int PAGE = 10_000;

  private final AuditLog audit;
  private final PendingOrders orders;
  private final Shards shards;
  private final SchemaMigration schema;
  private final CachedRead watched;
  private final AtomicBoolean suspensionsChanged = new AtomicBoolean();

  /** The id of the last action that was read; beyond all ids before the first reading. */
  private long lastRead = Long.MAX_VALUE;

  /** The actions of the last minute that were handled, and their times, by id. */
  private final NavigableMap<Long, Instant> handled = new TreeMap<>();

  OperatorChangeListener(
      AuditLog audit,
      PendingOrders orders,
      Shards shards,
      Suspensions suspensions,
      SchemaMigration schema,
      ChangeDetector changes,
      PeriodicTasks tasks) {
    this.audit = audit;
    this.orders = orders;
    this.shards = shards;
    this.schema = schema;
    this.watched = changes.watch(AuditLog.FINGERPRINT);
    suspensions.onChange(() -> suspensionsChanged.set(true));
    tasks.repeat(
        "operator-changes",
        INTERVAL,
        "changes by operators take effect only when their orders are due",
        this::update);
  }

  private void update() {
    if (!schema.isMigrated()) {
      return;
    }
    try {
      watched.readIfChanged(this::updateChanged);
      if (suspensionsChanged.getAndSet(false)) {
        armDue();
      }
    } catch (RuntimeException | Error e) {
      suspensionsChanged.set(true);
      throw e;
    }
  }

  private boolean updateChanged() {
    // Postgres may have lost the last actions in a failover, and then gives their ids again.
    Recent recent = audit.recent(lastRead, OVERLAP, PAGE);
    lastRead = recent.afterId();
    handled.headMap(lastRead, true).clear();
    List<OperatorAction> page = recent.actions();
    update(page);
    while (page.size() == PAGE) {
      page = audit.after(lastRead, PAGE);
      update(page);
    }
    return true;
  }

  private void update(List<OperatorAction> page) {
    List<OperatorAction> more =
        page.stream().filter(a -> !a.at().equals(handled.get(a.id()))).toList();
    apply(more);
    more.forEach(action -> handled.put(action.id(), action.at()));
    if (!page.isEmpty()) {
      lastRead = page.get(page.size() - 1).id();
    }
  }

  private void apply(List<OperatorAction> actions) {
    Set<String> subjects =
        actions.stream()
            .filter(action -> action.kind().rearmsOrder())
            .map(OperatorAction::subject)
            .collect(Collectors.toSet());
    if (subjects.isEmpty()) {
      return;
    }
    List<Changed> changed = orders.changed(subjects, shards.owned());
    shards.arm(changed.stream().filter(Changed::isPending).map(Changed::order).toList());
    shards.disarm(changed.stream().filter(c -> !c.isPending()).map(Changed::order).toList());
  }

  /**
   * Orders that a suspension has kept from being cancelled are in the wheel for a later attempt.
   */
  private void armDue() {
    for (int shard : shards.owned()) {
      Cursor cursor = null;
      do {
        Page page = orders.page(shard, cursor, PAGE);
        long now = shards.wheelTimeMillis();
        List<PendingOrder> due = new ArrayList<>();
        for (int i = 0; i < page.size(); i++) {
          if (page.stagesMillis()[i] <= now) {
            due.add(new PendingOrder(page.ids()[i], shard, page.stagesMillis()[i]));
          }
        }
        shards.arm(due);
        cursor = page.last();
        // Behind it, no deadline has passed. Before it, orders may be in their grace.
      } while (cursor != null && cursor.deadline().toEpochMilli() <= shards.wheelTimeMillis());
    }
  }
}
