package io.ordertimeout.it.safeguard;

import io.ordertimeout.it.support.Interceptors;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Called around the statements that the service executes. Statements are recognized by short
 * fragments of their text. Prepared statements are rewritten each time they are prepared, so what
 * an implementation does can change while the service runs.
 */
interface StatementInterceptor {

  /** Returns the statement to execute instead. */
  default String rewrite(String sql) {
    return sql;
  }

  /** Called before the statement, with the connection and the transaction that execute it. */
  default void before(String sql, Connection connection) throws SQLException {}

  /** Called after the statement, with the connection and the transaction that executed it. */
  default void after(String sql, Connection connection) throws SQLException {}

  /** Called when the statement has failed. */
  default void failed(String sql, SQLException failure) {}

  /** Wraps the connections of the service's data source. */
  static BeanPostProcessor install(StatementInterceptor interceptor) {
    return Interceptors.made(
        DataSource.class, Connection.class, call -> onConnection(interceptor, call));
  }

  /** Rewrites all statements. */
  static BeanPostProcessor rewriting(UnaryOperator<String> change) {
    return install(
        new StatementInterceptor() {
          @Override
          public String rewrite(String sql) {
            return change.apply(sql);
          }
        });
  }

  /** Counts the executed statements that contain the fragment. */
  static BeanPostProcessor counting(String fragment, AtomicInteger count) {
    return install(
        new StatementInterceptor() {
          @Override
          public void after(String sql, Connection connection) {
            if (sql.contains(fragment)) {
              count.incrementAndGet();
            }
          }
        });
  }

  private static @Nullable Object onConnection(
      StatementInterceptor interceptor, MethodInvocation call) throws Throwable {
    Object[] arguments = call.getArguments();
    Connection connection = (Connection) Objects.requireNonNull(call.getThis());
    return switch (call.getMethod().getName()) {
      case "prepareStatement" -> {
        String sql = interceptor.rewrite((String) arguments[0]);
        arguments[0] = sql;
        yield Interceptors.around(
            PreparedStatement.class,
            Objects.requireNonNull(call.proceed()),
            execution -> onStatement(interceptor, connection, sql, execution));
      }
      case "createStatement" ->
          Interceptors.around(
              Statement.class,
              Objects.requireNonNull(call.proceed()),
              execution -> onStatement(interceptor, connection, "", execution));
      default -> call.proceed();
    };
  }

  private static @Nullable Object onStatement(
      StatementInterceptor interceptor,
      Connection connection,
      String prepared,
      MethodInvocation call)
      throws Throwable {
    if (!call.getMethod().getName().startsWith("execute")) {
      return call.proceed();
    }
    String sql = prepared;
    Object[] arguments = call.getArguments();
    if (arguments.length > 0 && arguments[0] instanceof String text) {
      sql = interceptor.rewrite(text);
      arguments[0] = sql;
    }
    interceptor.before(sql, connection);
    Object result;
    try {
      result = call.proceed();
    } catch (SQLException e) {
      interceptor.failed(sql, e);
      throw e;
    }
    interceptor.after(sql, connection);
    return result;
  }
}
