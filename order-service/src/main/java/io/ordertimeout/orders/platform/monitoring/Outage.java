package io.ordertimeout.orders.platform.monitoring;

import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Set;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/** Tells failures of Kafka, Postgres and the network from those of the code. Stateless. */
final class Outage {

  /**
   * Classes of SQLSTATE: no connection, a rejected log-in, an unknown database, no resources, an
   * intervention of the operator.
   *
   * @see <a href="https://www.postgresql.org/docs/current/errcodes-appendix.html">error codes</a>
   */
  private static final Set<String> SQL_STATES = Set.of("08", "28", "3D", "53", "57");

  private static final String READ_ONLY = "25006";
  private static final int CLASS_LENGTH = 2;

  private Outage() {}

  /**
   * Returns whether a failure comes from Kafka, Postgres or the network, or has no stack trace
   * anyway. Its message says it all then: the stack trace only shows who had called them.
   */
  static boolean isOutage(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause.getStackTrace().length == 0
          || cause instanceof KafkaException
          || cause instanceof SocketException
          || cause instanceof SocketTimeoutException
          || cause instanceof UnknownHostException
          || cause instanceof SQLTransientConnectionException
          || (cause instanceof SQLException sql && isOutage(sql.getSQLState()))) {
        return true;
      }
    }
    return false;
  }

  private static boolean isOutage(@Nullable String state) {
    return state != null
        && (state.equals(READ_ONLY)
            || (state.length() > CLASS_LENGTH
                && SQL_STATES.contains(state.substring(0, CLASS_LENGTH))));
  }
}
