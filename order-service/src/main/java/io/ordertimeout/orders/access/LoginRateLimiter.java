package io.ordertimeout.orders.access;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.ordertimeout.orders.OrderTimeoutProperties;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.event.EventListener;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.security.authentication.event.AbstractAuthenticationFailureEvent;
import org.springframework.security.web.authentication.WebAuthenticationDetails;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * A filter that rejects log-ins from an address after repeated failures. It counts by address and
 * not by user, so that nobody can lock an operator out by guessing passwords. Behind a proxy, set
 * {@code server.forward-headers-strategy} so that the service sees the clients' addresses.
 * Remembers at most 100,000 addresses. Thread-safe.
 */
@Component
class LoginRateLimiter extends OncePerRequestFilter {

  private static final Logger log = LoggerFactory.getLogger(LoginRateLimiter.class);
  private static final int MAX_ADDRESSES = 100_000;

  private final Cache<String, AtomicInteger> failures;
  private final int maxFailures;
  private final Duration within;
  private final SecurityProblemHandler problems;

  LoginRateLimiter(OrderTimeoutProperties properties, SecurityProblemHandler problems) {
    this.maxFailures = properties.access().maxFailures();
    this.within = properties.access().failuresWithin();
    this.problems = problems;
    this.failures =
        Caffeine.newBuilder().expireAfterWrite(within).maximumSize(MAX_ADDRESSES).build();
  }

  @EventListener
  void countFailure(AbstractAuthenticationFailureEvent event) {
    if (event.getAuthentication().getDetails() instanceof WebAuthenticationDetails details) {
      String address = details.getRemoteAddress();
      int count = failures.get(address, a -> new AtomicInteger()).incrementAndGet();
      if (count == maxFailures) {
        log.warn(
            "{} failed to log in {} times; further log-ins from there are rejected for {}",
            address,
            count,
            within);
      }
    }
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    AtomicInteger count = failures.getIfPresent(request.getRemoteAddr());
    if (count != null && count.get() >= maxFailures && isLogin(request)) {
      response.setHeader(HttpHeaders.RETRY_AFTER, Long.toString(within.toSeconds()));
      problems.write(
          response,
          HttpStatus.TOO_MANY_REQUESTS,
          "too many failed log-ins; try again in " + within.toSeconds() + " s");
      return;
    }
    chain.doFilter(request, response);
  }

  /** Requests of an existing session are not limited. */
  private static boolean isLogin(HttpServletRequest request) {
    return request.getHeader(HttpHeaders.AUTHORIZATION) != null
        || (request.getMethod().equals("POST") && request.getRequestURI().equals("/api/session"));
  }
}
