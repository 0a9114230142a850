package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.platform.kafka.TopicCheck;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.platform.postgres.SchemaMigration;
import io.ordertimeout.orders.platform.postgres.SessionSettings;
import io.ordertimeout.orders.platform.postgres.WritableServer;
import io.ordertimeout.orders.readback.ReadBack;
import org.springframework.stereotype.Component;

/**
 * The prerequisites of reading records: a primary, the schema, its clock, the topics. Thread-safe.
 */
@Component
class IntakePrerequisites {

  private final WritableServer server;
  private final SessionSettings sessions;
  private final SchemaMigration schema;
  private final DatabaseClock clock;
  private final TopicCheck topicCheck;
  private final ReadBack readBack;
  private boolean begun;

  IntakePrerequisites(
      WritableServer server,
      SessionSettings sessions,
      SchemaMigration schema,
      DatabaseClock clock,
      TopicCheck topicCheck,
      ReadBack readBack) {
    this.server = server;
    this.sessions = sessions;
    this.schema = schema;
    this.clock = clock;
    this.topicCheck = topicCheck;
    this.readBack = readBack;
  }

  /** Establishes what is missing; throws if that fails, and returns soon if nothing is missing. */
  synchronized void ensure() throws InterruptedException {
    schema.migrate();
    server.require();
    sessions.require();
    clock.set();
    topicCheck.check();
    if (!begun) {
      readBack.request();
      begun = true;
    }
  }
}
