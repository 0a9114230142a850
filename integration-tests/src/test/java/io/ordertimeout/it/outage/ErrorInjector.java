package io.ordertimeout.it.outage;

import io.ordertimeout.it.support.Interceptors;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.kafka.clients.admin.Admin;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Throws errors instead of executing the service's statements and its calls of Kafka, as a class
 * does that cannot be loaded.
 */
final class ErrorInjector {

  private final Set<String> failing = ConcurrentHashMap.newKeySet();
  private final Set<String> losingResults = ConcurrentHashMap.newKeySet();

  /** Fails calls of Kafka's clients by method name, and statements by a fragment of their text. */
  void fail(String... calls) {
    failing.addAll(List.of(calls));
  }

  /** Executes the next statement that contains the fragment, and loses its result. */
  void loseResult(String fragment) {
    losingResults.add(fragment);
  }

  void restore() {
    failing.clear();
  }

  List<BeanPostProcessor> interceptors() {
    MethodInterceptor byName =
        call -> {
          failIf(failing.contains(call.getMethod().getName()), call.getMethod().getName());
          return call.proceed();
        };
    return List.of(
        Interceptors.made(DataSource.class, Connection.class, this::onConnection),
        Interceptors.beans(Admin.class, byName),
        Interceptors.producers(byName),
        Interceptors.consumers(byName));
  }

  private @Nullable Object onConnection(MethodInvocation call) throws Throwable {
    Object result = call.proceed();
    return switch (call.getMethod().getName()) {
      case "prepareStatement" -> {
        String sql = (String) call.getArguments()[0];
        yield Interceptors.around(
            PreparedStatement.class, Objects.requireNonNull(result), e -> onExecution(sql, e));
      }
      case "createStatement" ->
          Interceptors.around(
              Statement.class,
              Objects.requireNonNull(result),
              e ->
                  onExecution(
                      e.getArguments().length > 0 ? e.getArguments()[0].toString() : "", e));
      default -> result;
    };
  }

  private @Nullable Object onExecution(String sql, MethodInvocation call) throws Throwable {
    boolean executes = call.getMethod().getName().startsWith("execute");
    failIf(executes && failing.stream().anyMatch(sql::contains), sql);
    Object result = call.proceed();
    if (executes && losingResults.removeIf(sql::contains)) {
      throw new SQLException("the connection broke before the result arrived", "08006");
    }
    return result;
  }

  private static void failIf(boolean condition, String what) {
    if (condition) {
      throw new NoClassDefFoundError(
          "injected into " + what.strip().lines().findFirst().orElse(""));
    }
  }
}
