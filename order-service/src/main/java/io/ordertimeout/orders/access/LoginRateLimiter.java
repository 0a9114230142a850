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
 * Has an address wait that failed to log in too often. By address and not by user, so that nobody
 * can lock an operator out by guessing; behind a proxy, {@code server.forward-headers-strategy} has
 * to tell the addresses apart. Remembers a bounded number of addresses. Thread-safe.
 */
@Component
class FailedLogins extends OncePerRequestFilter {

  private static final Logger log = LoggerFactory.getLogger(FailedLogins.class);
  private static final int MOST_ADDRESSES = 100_000;

  private final Cache<String, AtomicInteger> failures;
  private final int maxFailures;
  private final Duration within;
  private final Refusals refusals;

  FailedLogins(OrderTimeoutProperties properties, Refusals refusals) {
    this.maxFailures = properties.access().maxFailures();
    this.within = properties.access().failuresWithin();
    this.refusals = refusals;
    this.failures =
        Caffeine.newBuilder().expireAfterWrite(within).maximumSize(MOST_ADDRESSES).build();
  }

  @EventListener
  void failed(AbstractAuthenticationFailureEvent event) {
    if (event.getAuthentication().getDetails() instanceof WebAuthenticationDetails details) {
      String address = details.getRemoteAddress();
      int count = failures.get(address, a -> new AtomicInteger()).incrementAndGet();
      if (count == maxFailures) {
        log.warn("{} failed to log in {} times and has to wait for {}", address, count, within);
      }
    }
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    AtomicInteger count = failures.getIfPresent(request.getRemoteAddr());
    if (count != null && count.get() >= maxFailures && triesToLogIn(request)) {
      response.setHeader(HttpHeaders.RETRY_AFTER, Long.toString(within.toSeconds()));
      refusals.write(
          response, HttpStatus.TOO_MANY_REQUESTS, "too many failed log-ins; wait " + within);
      return;
    }
    chain.doFilter(request, response);
  }

  /** Whoever is logged in already may go on. */
  private static boolean triesToLogIn(HttpServletRequest request) {
    return request.getHeader(HttpHeaders.AUTHORIZATION) != null
        || (request.getMethod().equals("POST") && request.getRequestURI().equals("/api/session"));
  }
}
