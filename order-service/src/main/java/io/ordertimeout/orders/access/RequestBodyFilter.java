package io.ordertimeout.orders.access;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.api.BoundedBody;
import io.ordertimeout.orders.api.ClientAddress;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.web.util.matcher.RequestMatcher;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Decides which request bodies are read, before any other filter reads one. A request without
 * credentials is refused, except for the form of a log-in, of which few are read at a time, fewer
 * still from the same address. Every other body is bounded in size and time. Thread-safe.
 */
final class RequestBodyFilter extends OncePerRequestFilter {

  private static final String CSRF_HEADER = "X-XSRF-TOKEN";

  /** Far more than a user name and a password. */
  private static final long MAX_FORM_BYTES = 8_192;

  /** Maximum number of log-in forms that are read at the same time. */
  private static final int MAX_FORMS = 16;

  private final RequestMatcher logIn;
  private final OrderTimeoutProperties.Access settings;
  private final SecurityProblemHandler problems;
  private final Semaphore forms = new Semaphore(MAX_FORMS);
  private final ConcurrencyLimit formsByAddress = new ConcurrencyLimit(2);

  /**
   * Creates the filter.
   *
   * @param logIn matches the requests that log in with a form
   */
  RequestBodyFilter(
      RequestMatcher logIn,
      OrderTimeoutProperties.Access settings,
      SecurityProblemHandler problems) {
    this.logIn = logIn;
    this.settings = settings;
    this.problems = problems;
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    if (!hasBody(request)) {
      chain.doFilter(request, response);
    } else if (logIn.matches(request)) {
      readForm(request, response, chain);
    } else if (isAnonymous(request)) {
      refuse(
          request,
          response,
          HttpStatus.UNAUTHORIZED,
          "log in first, as an operator; a browser must also send the CSRF token of its session");
    } else if (!isPlainUtf8(request)) {
      refuse(
          request,
          response,
          HttpStatus.UNSUPPORTED_MEDIA_TYPE,
          "send the body as it is, without Content-Encoding, and in UTF-8");
    } else if (isForm(request)) {
      refuse(request, response, HttpStatus.UNSUPPORTED_MEDIA_TYPE, "send JSON instead of a form");
    } else if (request.getContentLengthLong() > settings.maxBodySize().toBytes()) {
      refuse(
          request,
          response,
          HttpStatus.CONTENT_TOO_LARGE,
          "the body exceeds the maximum of " + settings.maxBodySize().toBytes() + " bytes");
    } else {
      chain.doFilter(
          new BoundedBody(request, settings.maxBodySize().toBytes(), settings.bodyTimeout()),
          response);
    }
  }

  private static boolean hasBody(HttpServletRequest request) {
    return request.getContentLengthLong() > 0
        || request.getHeader(HttpHeaders.TRANSFER_ENCODING) != null;
  }

  private static boolean isAnonymous(HttpServletRequest request) {
    return request.getHeader(HttpHeaders.AUTHORIZATION) == null
        && SecurityContextHolder.getContext().getAuthentication() == null;
  }

  private static boolean isPlainUtf8(HttpServletRequest request) {
    String encoding = request.getHeader(HttpHeaders.CONTENT_ENCODING);
    if (encoding != null && !encoding.equalsIgnoreCase("identity")) {
      return false;
    }
    try {
      String type = request.getContentType();
      Charset charset = type == null ? null : MediaType.parseMediaType(type).getCharset();
      return charset == null || charset.equals(StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static boolean isForm(HttpServletRequest request) {
    try {
      MediaType type = MediaType.parseMediaType(String.valueOf(request.getContentType()));
      return type.equalsTypeAndSubtype(MediaType.APPLICATION_FORM_URLENCODED)
          || type.getType().equals("multipart");
    } catch (InvalidMediaTypeException e) {
      return false;
    }
  }

  private void readForm(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    if (request.getHeader(CSRF_HEADER) == null) {
      refuse(
          request,
          response,
          HttpStatus.UNAUTHORIZED,
          "the log-in lacks the header "
              + CSRF_HEADER
              + " with the CSRF token from GET /api/v1/session");
      return;
    }
    if (!isForm(request) || request.getContentLengthLong() > MAX_FORM_BYTES) {
      refuse(
          request,
          response,
          HttpStatus.BAD_REQUEST,
          "send the fields username and password as a short form");
      return;
    }
    byte[] body = body(request, response);
    if (body == null) {
      return;
    }
    FormRequest form;
    try {
      form = new FormRequest(request, new String(body, StandardCharsets.UTF_8));
    } catch (IllegalArgumentException e) {
      refuse(request, response, HttpStatus.BAD_REQUEST, String.valueOf(e.getMessage()));
      return;
    }
    chain.doFilter(form, response);
  }

  private byte @Nullable [] body(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    String address = ClientAddress.group(request.getRemoteAddr());
    if (!formsByAddress.tryAcquire(address)) {
      refuse(
          request,
          response,
          HttpStatus.TOO_MANY_REQUESTS,
          "too many log-ins at the same time; try again");
      return null;
    }
    try {
      if (!forms.tryAcquire()) {
        refuse(
            request,
            response,
            HttpStatus.SERVICE_UNAVAILABLE,
            "too many log-ins at the same time; try again");
        return null;
      }
      try {
        return new BoundedBody(request, MAX_FORM_BYTES, settings.bodyTimeout())
            .getInputStream()
            .readAllBytes();
      } catch (BoundedBody.LimitExceededException e) {
        refuse(request, response, e.status(), e.getMessage());
        return null;
      } finally {
        forms.release();
      }
    } finally {
      formsByAddress.release(address);
    }
  }

  /** Refuses a request whose body was not read, or not completely. */
  private void refuse(
      HttpServletRequest request, HttpServletResponse response, HttpStatus status, String detail)
      throws IOException {
    response.setHeader(HttpHeaders.CONNECTION, "close");
    problems.write(request, response, status, detail);
  }
}
