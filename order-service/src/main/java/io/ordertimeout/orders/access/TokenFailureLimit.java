package io.ordertimeout.orders.access;

import io.ordertimeout.orders.api.ClientAddress;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Locale;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.web.AuthenticationEntryPoint;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Rejects tokens from an address that has sent too many invalid ones: each with an unknown key
 * would make the service ask the issuer for its keys. Thread-safe.
 */
final class TokenFailureLimit extends OncePerRequestFilter implements AuthenticationEntryPoint {

  private static final String ANYBODY = "";

  private final LogInAttempts attempts;
  private final SecurityProblemHandler problems;

  TokenFailureLimit(LogInAttempts attempts, SecurityProblemHandler problems) {
    this.attempts = attempts;
    this.problems = problems;
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    String header = request.getHeader(HttpHeaders.AUTHORIZATION);
    if (header != null
        && header.toLowerCase(Locale.ROOT).startsWith("bearer")
        && attempts.areUsedUp(ANYBODY, address(request))) {
      problems.onAuthenticationFailure(
          request,
          response,
          new RefusedLogInException(
              HttpStatus.TOO_MANY_REQUESTS,
              "too many invalid tokens; try again in " + attempts.regain().toSeconds() + " s",
              attempts.regain()));
      return;
    }
    chain.doFilter(request, response);
  }

  /** Counts an invalid token and refuses its request. */
  @Override
  public void commence(
      HttpServletRequest request, HttpServletResponse response, AuthenticationException failure)
      throws IOException {
    // False if simultaneous requests have used all attempts up meanwhile; this one is over anyway.
    boolean unused = attempts.take(ANYBODY, address(request));
    problems.commence(request, response, failure);
  }

  private static String address(HttpServletRequest request) {
    return ClientAddress.group(request.getRemoteAddr());
  }
}
