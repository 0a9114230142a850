package io.ordertimeout.orders.api;

import io.ordertimeout.orders.OrderTimeoutProperties;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.tomcat.autoconfigure.TomcatServerProperties;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * Limits how many requests are processed at the same time. Those that use Postgres take one
 * connection at a time, so slow requests leave the other connections of the pool to the processing
 * of events. Changes have permits of their own, and threads that no reading occupies: whatever
 * others read, an operator can pause the expiry. Thread-safe.
 */
@Component
class RequestLimit implements HandlerInterceptor, WebMvcConfigurer {

  private static final Duration MAX_WAIT = Duration.ofSeconds(5);

  /** The share of the server's threads that readings may occupy, also while they wait. */
  private static final int THREADS_PER_READING = 2;

  private static final Set<String> READING_METHODS = Set.of("GET", "HEAD", "OPTIONS");

  private final int limit;
  private final Semaphore changes;
  private final Semaphore readings;
  private final Semaphore readingsOfKafka;
  private final int maxReadings;
  private final Semaphore threads;
  private final TransactionTemplate reading;

  RequestLimit(
      OrderTimeoutProperties properties,
      TomcatServerProperties tomcat,
      PlatformTransactionManager transactions) {
    this.limit = properties.api().maxConcurrentRequests();
    this.changes = new Semaphore(limit, true);
    this.readings = new Semaphore(limit, true);
    this.readingsOfKafka = new Semaphore(limit, true);
    this.maxReadings = Math.max(1, tomcat.getThreads().getMax() / THREADS_PER_READING);
    this.threads = new Semaphore(maxReadings);
    this.reading = new TransactionTemplate(transactions);
    this.reading.setReadOnly(true);
    this.reading.setTimeout(Reading.SECONDS);
  }

  /** Excludes the stream, which occupies no thread, and what does not use Postgres by itself. */
  @Override
  public void addInterceptors(InterceptorRegistry registry) {
    registry
        .addInterceptor(this)
        .addPathPatterns("/api/v1/**")
        .excludePathPatterns("/api/v1/live", "/api/v1/session");
  }

  @Override
  public boolean preHandle(
      HttpServletRequest request, HttpServletResponse response, Object handler) {
    Semaphore permits = permits(request, handler);
    if (permits == changes) {
      acquire(permits);
      return true;
    }
    if (!threads.tryAcquire()) {
      throw tooMany(maxReadings);
    }
    boolean isAcquired = false;
    try {
      acquire(permits);
      isAcquired = true;
    } finally {
      if (!isAcquired) {
        threads.release();
      }
    }
    return true;
  }

  @Override
  public void afterCompletion(
      HttpServletRequest request,
      HttpServletResponse response,
      Object handler,
      @Nullable Exception failure) {
    Semaphore permits = permits(request, handler);
    permits.release();
    if (permits != changes) {
      threads.release();
    }
  }

  private Semaphore permits(HttpServletRequest request, Object handler) {
    // A check of events is posted, but changes nothing.
    boolean isCheck =
        handler instanceof HandlerMethod method
            && method.getBeanType() == EventCheckController.class;
    if (!isCheck && !READING_METHODS.contains(request.getMethod())) {
      return changes;
    }
    return handler instanceof HandlerMethod method
            && !isCheck
            && !method.hasMethodAnnotation(Reading.class)
        ? readingsOfKafka
        : readings;
  }

  /** Limits the part of a reading of Kafka that reads Postgres, as a {@link Reading} is limited. */
  <T> T within(Supplier<T> part) {
    acquire(readings);
    try {
      return Objects.requireNonNull(reading.execute(transaction -> part.get()));
    } finally {
      readings.release();
    }
  }

  private void acquire(Semaphore permits) {
    try {
      if (permits.tryAcquire(MAX_WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    throw tooMany(limit);
  }

  private static ResponseStatusException tooMany(int others) {
    return new ResponseStatusException(
        HttpStatus.SERVICE_UNAVAILABLE,
        "%d other requests are being processed; nothing was changed, try again".formatted(others));
  }
}
