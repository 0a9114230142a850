package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.platform.kafka.TopicCheck;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.platform.postgres.SchemaMigration;
import org.springframework.stereotype.Component;

/** What must be in place before the first record is read: schema, clock and topics. Thread-safe. */
@Component
class IntakePrerequisites {

  private final SchemaMigration schema;
  private final DatabaseClock clock;
  private final TopicCheck topicCheck;

  IntakePrerequisites(SchemaMigration schema, DatabaseClock clock, TopicCheck topicCheck) {
    this.schema = schema;
    this.clock = clock;
    this.topicCheck = topicCheck;
  }

  /**
   * Establishes what is missing; throws if that fails, and returns at once if nothing is missing.
   */
  void ensure() throws InterruptedException {
    schema.migrate();
    clock.set();
    topicCheck.check();
  }
}
