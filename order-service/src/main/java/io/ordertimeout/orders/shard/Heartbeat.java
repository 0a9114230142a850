package io.ordertimeout.orders.shard;

import io.ordertimeout.orders.BackgroundLoop;
import io.ordertimeout.orders.Step;
import io.ordertimeout.orders.Steps;
import io.ordertimeout.orders.expiry.PaymentWatermark;
import io.ordertimeout.orders.expiry.ShardHeartbeats;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/** Says every second, in Postgres, which shards this instance serves with Kafka within reach. */
@Component
class Heartbeat implements SmartLifecycle {

  private static final Duration INTERVAL = Duration.ofSeconds(1);
  private static final Duration STOP_PATIENCE = Duration.ofSeconds(5);

  private final Shards shards;
  private final PaymentWatermark watermark;
  private final ShardHeartbeats heartbeats;
  private final Step step;
  private final BackgroundLoop loop;
  private volatile boolean running;

  Heartbeat(Shards shards, PaymentWatermark watermark, ShardHeartbeats heartbeats, Steps steps) {
    this.shards = shards;
    this.watermark = watermark;
    this.heartbeats = heartbeats;
    this.step = steps.step("heartbeat");
    this.loop =
        new BackgroundLoop(
            step, this::beat, INTERVAL, "to everybody else this instance's shards look unserved");
  }

  private void beat() throws InterruptedException {
    Set<Integer> owned = shards.owned();
    if (!owned.isEmpty()) {
      heartbeats.beat(watermark.reachable(owned));
    }
    step.succeeded();
    TimeUnit.MILLISECONDS.sleep(INTERVAL.toMillis());
  }

  @Override
  public void start() {
    running = true;
    loop.start();
  }

  @Override
  public void stop() {
    loop.stop(STOP_PATIENCE);
    running = false;
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public int getPhase() {
    return Shards.PHASE + 1;
  }
}
