package io.ordertimeout.orders.shard;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class HeartbeatTest {

  @Test
  void aSlowFirstAnswerIsAwaited() throws InterruptedException {
    CompletableFuture<String> slow =
        new CompletableFuture<String>().completeOnTimeout("end", 1, TimeUnit.SECONDS);

    assertThat(Heartbeat.awaitAnswers(Map.of(1, slow, 2, new CompletableFuture<>())))
        .containsOnlyKeys(1);
  }

  @Test
  void aShardWithoutAnAnswerIsLeftOut() throws InterruptedException {
    CompletableFuture<?> failed = CompletableFuture.failedFuture(new IllegalStateException());

    assertThat(
            Heartbeat.awaitAnswers(
                Map.of(
                    1,
                    CompletableFuture.completedFuture("end"),
                    2,
                    new CompletableFuture<>(),
                    3,
                    failed)))
        .containsOnlyKeys(1, 3);
    assertThat(Heartbeat.awaitAnswers(Map.of())).isEmpty();
  }
}
