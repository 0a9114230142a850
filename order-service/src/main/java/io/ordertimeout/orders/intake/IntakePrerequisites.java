package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.platform.kafka.TopicCheck;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.platform.postgres.SchemaMigration;
import org.springframework.stereotype.Component;

/** What has to be there before the first record is read. Thread-safe. */
@Component
class StartConditions {

  private final SchemaMigration schema;
  private final DatabaseClock clock;
  private final TopicCheck topicCheck;

  StartConditions(SchemaMigration schema, DatabaseClock clock, TopicCheck topicCheck) {
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
