package io.ordertimeout.orders.access;

import io.ordertimeout.orders.access.session.SessionsUnavailableException;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Responds to a request whose session cannot be read or ended, wherever in the chain of filters
 * that is noticed. Thread-safe.
 */
final class UnavailableSessionsFilter extends OncePerRequestFilter {

  private final SecurityProblemHandler problems;

  UnavailableSessionsFilter(SecurityProblemHandler problems) {
    this.problems = problems;
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    try {
      chain.doFilter(request, response);
    } catch (SessionsUnavailableException e) {
      problems.commence(request, response, e);
    }
  }
}
