package io.ordertimeout.it.crash;

import static io.ordertimeout.it.crash.CrashingService.reached;

import io.ordertimeout.it.support.Interceptors;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Reports the crash points of one database connection: before and after its statements, and after
 * its commits. Statements are recognized by short fragments of their text.
 */
final class StatementInterceptors {

  private static volatile boolean stored;

  private final Connection connection;

  /** The statements of the current transaction; used by the connection's thread only. */
  private final List<String> executed = new ArrayList<>();

  private StatementInterceptors(Connection connection) {
    this.connection = connection;
  }

  /** Returns whether any event has been stored. */
  static boolean hasStored() {
    return stored;
  }

  /** Wraps the connections of a data source. */
  static @Nullable Object connection(MethodInvocation call) throws Throwable {
    Object made = call.proceed();
    return made instanceof Connection connection
        ? Interceptors.around(
            Connection.class, connection, new StatementInterceptors(connection)::onConnection)
        : made;
  }

  private @Nullable Object onConnection(MethodInvocation call) throws Throwable {
    Object result = call.proceed();
    switch (call.getMethod().getName()) {
      case "prepareStatement" -> {
        String sql = ((String) call.getArguments()[0]).toLowerCase(Locale.ROOT);
        return Interceptors.around(
            PreparedStatement.class,
            Objects.requireNonNull(result),
            execution -> onStatement(sql, execution));
      }
      case "commit" -> committed();
      case "rollback" -> executed.clear();
      default -> {
        // No other call completes a step.
      }
    }
    return result;
  }

  private @Nullable Object onStatement(String sql, MethodInvocation call) throws Throwable {
    if (!call.getMethod().getName().startsWith("execute")) {
      return call.proceed();
    }
    before(sql);
    Object result = call.proceed();
    after(sql);
    return result;
  }

  private static void before(String sql) {
    if (registers(sql)) {
      reached(CrashPoint.BEFORE_STORE);
    } else if (decides(sql)) {
      reached(CrashPoint.BEFORE_DECISION);
    } else if (recordsPublication(sql)) {
      reached(CrashPoint.BEFORE_PUBLICATION_RECORDED);
    }
  }

  private void after(String sql) throws SQLException {
    if (registers(sql)) {
      reached(CrashPoint.ORDERS_WRITTEN);
    } else if (settles(sql)) {
      reached(CrashPoint.PAYMENTS_WRITTEN);
    } else if (readsPage(sql)) {
      reached(CrashPoint.REBUILDING);
    }
    executed.add(sql);
    if (connection.getAutoCommit()) {
      committed();
    }
  }

  private void committed() {
    for (String sql : executed) {
      if (registers(sql) || settles(sql)) {
        stored = true;
        reached(CrashPoint.STORED);
      } else if (raisesConflict(sql)) {
        reached(CrashPoint.CONFLICT_STORED);
      } else if (decides(sql)) {
        reached(CrashPoint.DECIDED);
      } else if (recordsPublication(sql)) {
        reached(CrashPoint.PUBLICATION_RECORDED);
      }
    }
    executed.clear();
  }

  private static boolean registers(String sql) {
    return sql.contains("insert into order_deadline") && !sql.contains("close_reason");
  }

  private static boolean settles(String sql) {
    return sql.contains("insert into order_deadline") && sql.contains("close_reason");
  }

  private static boolean raisesConflict(String sql) {
    return sql.contains("with raised as");
  }

  private static boolean decides(String sql) {
    return sql.contains("set state = 'cancelled'");
  }

  private static boolean recordsPublication(String sql) {
    return sql.contains("update outbox");
  }

  private static boolean readsPage(String sql) {
    return sql.contains("from order_deadline") && sql.contains("order by deadline, id");
  }
}
