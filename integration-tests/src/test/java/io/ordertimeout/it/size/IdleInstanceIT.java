package io.ordertimeout.it.size;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.size.StatementCosts.Cost;
import io.ordertimeout.it.support.Service;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An instance that has nothing to do issues few statements. */
class IdleInstanceIT {

  private static final Logger log = LoggerFactory.getLogger(IdleInstanceIT.class);
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  /** There is one each second, or less often if the machine is slow; then all else is, too. */
  private static final String HEARTBEAT = "into shard_heartbeat";

  private static final int HEARTBEATS = 20;

  /**
   * For each heartbeat, transactions and the connection pool included. There are 8; a heartbeat
   * that waits for Kafka on a busy machine leaves time for some more.
   */
  private static final double MOST_STATEMENTS = 12;

  @Test
  void anIdleInstanceIssuesFewStatements(@TempDir Path directory) throws IOException {
    try (StatementCosts costs = new StatementCosts(directory);
        Service service = costs.scenario().startService()) {
      service.awaitReady(true);
      costs.reset();
      await("heartbeats")
          .atMost(PATIENCE)
          .until(() -> calls(costs.read(), HEARTBEAT) >= HEARTBEATS);

      Map<String, Cost> read = costs.read();
      read.forEach((statement, cost) -> log.info("{} {}", cost, statement));
      assertThat((double) calls(read, "") / calls(read, HEARTBEAT)).isLessThan(MOST_STATEMENTS);
    }
  }

  private static long calls(Map<String, Cost> costs, String part) {
    return costs.entrySet().stream()
        .filter(entry -> entry.getKey().contains(part))
        .mapToLong(entry -> entry.getValue().calls())
        .sum();
  }
}
