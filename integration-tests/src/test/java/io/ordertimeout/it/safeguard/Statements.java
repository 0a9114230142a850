package io.ordertimeout.it.safeguard;

import io.ordertimeout.it.support.Interceptors;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import javax.sql.DataSource;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;

/** Around the statements that the service executes. */
final class Statements {

  /** What is done about a statement; told by what it does, not by its whole text. */
  interface Seam {

    /** The statement to execute instead. */
    default String text(String sql) {
      return sql;
    }

    default void before(String sql) throws SQLException {}

    default void behind(String sql) {}
  }

  private Statements() {}

  static BeanPostProcessor seam(Seam seam) {
    return Interceptors.made(DataSource.class, Connection.class, call -> onConnection(seam, call));
  }

  /** Changes the statements that contain the mark. */
  static BeanPostProcessor rewritten(String mark, Function<String, String> change) {
    return rewritten(sql -> sql.contains(mark) ? change.apply(sql) : sql);
  }

  static BeanPostProcessor rewritten(Function<String, String> change) {
    return seam(
        new Seam() {
          @Override
          public String text(String sql) {
            return change.apply(sql);
          }
        });
  }

  /** Counts the statements that contain the mark, once they are executed. */
  static BeanPostProcessor counted(String mark, AtomicInteger count) {
    return seam(
        new Seam() {
          @Override
          public void behind(String sql) {
            if (sql.contains(mark)) {
              count.incrementAndGet();
            }
          }
        });
  }

  static Function<String, String> without(String part) {
    return with("", part);
  }

  /** Puts something else in the place of a part, which has to be there. */
  static Function<String, String> with(String other, String part) {
    return sql -> {
      if (!sql.contains(part)) {
        throw new IllegalStateException("'" + part + "' is not in the statement: " + sql);
      }
      return sql.replace(part, other);
    };
  }

  private static @Nullable Object onConnection(Seam seam, MethodInvocation call) throws Throwable {
    Object[] arguments = call.getArguments();
    return switch (call.getMethod().getName()) {
      case "prepareStatement" -> {
        String sql = seam.text((String) arguments[0]);
        arguments[0] = sql;
        yield Interceptors.around(
            PreparedStatement.class,
            Objects.requireNonNull(call.proceed()),
            execution -> onStatement(seam, sql, execution));
      }
      case "createStatement" ->
          Interceptors.around(
              Statement.class,
              Objects.requireNonNull(call.proceed()),
              execution -> onStatement(seam, "", execution));
      default -> call.proceed();
    };
  }

  private static @Nullable Object onStatement(Seam seam, String prepared, MethodInvocation call)
      throws Throwable {
    if (!call.getMethod().getName().startsWith("execute")) {
      return call.proceed();
    }
    String sql = prepared;
    Object[] arguments = call.getArguments();
    if (arguments.length > 0 && arguments[0] instanceof String text) {
      sql = seam.text(text);
      arguments[0] = sql;
    }
    seam.before(sql);
    Object result = call.proceed();
    seam.behind(sql);
    return result;
  }
}
