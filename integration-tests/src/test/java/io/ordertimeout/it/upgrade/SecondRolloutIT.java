package io.ordertimeout.it.upgrade;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Instance;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.SuspensionRows;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/**
 * Features that are off by default are switched on while the service is in use: one instance after
 * the other has their topics and policies.
 */
class SecondRolloutIT {

  private static final String[] OFF = {
    "order-timeout.topics.attempts", "",
    "order-timeout.topics.changed", "",
    "order-timeout.topics.expiring", ""
  };
  private static final String[] ON = {
    "order-timeout.deadline.policies[0].name", "all",
    "order-timeout.deadline.policies[0].timeout", "1h",
    "order-timeout.deadline.policies[0].warnings[0]", "1s",
    "order-timeout.deadline.policies[0].grace", "1s",
    "order-timeout.reconciler.interval", "1s",
    "order-timeout.reconciler.confirm-after", "1s"
  };

  @AutoClose private final Scenario scenario = Scenario.withAllTopics();

  @Test
  void featuresAreSwitchedOnInstanceByInstance() {
    Service off = scenario.startService(OFF);
    off.awaitReady(true);
    // Published before anybody reads its topic.
    start("attempted before");
    scenario.shop().changed("changed before", Map.of("timeout", "PT30M"));
    for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
      scenario.passDeadline("off-" + shard, shard);
      scenario.createPending("before-" + shard, shard);
    }

    Service on = scenario.startService(ON);
    Instance.awaitShared(off, on);
    for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
      scenario.passDeadline("both-" + shard, shard);
    }
    off.close();
    on.awaitReady(true);
    on.awaitOwnedShards(Scenario.PARTITIONS);

    Instant deadline = Scenario.in(Duration.ofSeconds(3));
    start("attempted");
    for (String orderId :
        new String[] {"attempted", "attempted before", "changed", "changed before", "unpaid"}) {
      scenario.shop().created(orderId, Map.of("payBy", deadline.toString()));
    }
    scenario.shop().changed("changed", Map.of("timeout", "PT30M"));
    assertThat(scenario.outcomes().awaitCancelled("unpaid").instant("cancelledAt"))
        .isAfterOrEqualTo(deadline.plusSeconds(1));
    assertThat(scenario.outcomes().warnings("unpaid")).hasSize(1);
    for (int shard = 0; shard < Scenario.PARTITIONS; shard++) {
      scenario.passDeadline("on-" + shard, shard);
      assertThat(scenario.database().state("before-" + shard)).isEqualTo("PENDING");
    }
    for (String orderId :
        new String[] {"attempted", "attempted before", "changed", "changed before"}) {
      assertThat(scenario.database().state(orderId)).isEqualTo("PENDING");
    }
    assertThat(scenario.database().count(SuspensionRows.HOLDS)).isZero();
    assertThat(on.counter("order.timeout.repaired")).isZero();
  }

  private void start(String orderId) {
    scenario
        .shop()
        .attempt(
            orderId,
            Map.of("status", "STARTED", "until", Scenario.in(Duration.ofMinutes(30)).toString()));
  }
}
