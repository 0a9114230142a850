package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.DatabaseClock;
import io.ordertimeout.orders.Schema;
import org.springframework.stereotype.Component;

/** What has to be there before the first record is read. Thread-safe. */
@Component
class Prerequisites {

  private final Schema schema;
  private final DatabaseClock clock;
  private final TopicCheck topicCheck;

  Prerequisites(Schema schema, DatabaseClock clock, TopicCheck topicCheck) {
    this.schema = schema;
    this.clock = clock;
    this.topicCheck = topicCheck;
  }

  /** Sees to it, and throws if it is not to be had now; returns at once if it is there. */
  void meet() throws InterruptedException {
    schema.migrate();
    clock.set();
    topicCheck.check();
  }
}
