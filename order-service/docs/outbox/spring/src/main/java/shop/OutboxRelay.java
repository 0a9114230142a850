package shop;

import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Sends the outbox for as long as the shop runs. A failure is logged, and tried again. */
@Component
@ConditionalOnProperty("run")
class OutboxRelay {

  private final Outbox outbox;

  OutboxRelay(Outbox outbox) {
    this.outbox = outbox;
  }

  @Scheduled(fixedDelay = 100)
  void sendAll() {
    while (outbox.relay() > 0) {
      // There may be more.
    }
  }
}
