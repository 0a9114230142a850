package io.ordertimeout.orders.api;

import io.ordertimeout.orders.OrderTimeoutProperties;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * Limits how many requests use Postgres at the same time. Each of them takes one connection at a
 * time, so slow requests leave the other connections of the pool to the processing of events.
 * Thread-safe.
 */
@Component
class RequestLimit implements HandlerInterceptor, WebMvcConfigurer {

  private static final Duration MAX_WAIT = Duration.ofSeconds(5);

  private final int limit;
  private final Semaphore permits;

  RequestLimit(OrderTimeoutProperties properties) {
    this.limit = properties.api().maxConcurrentRequests();
    this.permits = new Semaphore(limit, true);
  }

  /**
   * Excludes requests that do not use Postgres, those that read Kafka as well, and the stream that
   * its subscribers share.
   */
  @Override
  public void addInterceptors(InterceptorRegistry registry) {
    registry
        .addInterceptor(this)
        .addPathPatterns("/api/v1/**")
        .excludePathPatterns("/api/v1/live", "/api/v1/session")
        .excludePathPatterns(
            "/api/v1/dead-letters",
            "/api/v1/dead-letters/*",
            "/api/v1/dead-letters/*/groups",
            "/api/v1/dead-letters/*/*/*")
        .excludePathPatterns("/api/v1/order/publications", "/api/v1/orders/*/publications");
  }

  @Override
  public boolean preHandle(
      HttpServletRequest request, HttpServletResponse response, Object handler) {
    acquire();
    return true;
  }

  /** Limits the part of an excluded request that uses Postgres. */
  <T> T within(Supplier<T> part) {
    acquire();
    try {
      return part.get();
    } finally {
      permits.release();
    }
  }

  private void acquire() {
    try {
      if (permits.tryAcquire(MAX_WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    throw new ResponseStatusException(
        HttpStatus.SERVICE_UNAVAILABLE,
        "%d other requests are being processed; nothing was changed, try again".formatted(limit));
  }

  @Override
  public void afterCompletion(
      HttpServletRequest request,
      HttpServletResponse response,
      Object handler,
      @Nullable Exception failure) {
    permits.release();
  }
}
