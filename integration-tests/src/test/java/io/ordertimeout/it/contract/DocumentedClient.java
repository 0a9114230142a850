package io.ordertimeout.it.contract;

import io.ordertimeout.client.ApiClient;
import io.ordertimeout.client.api.DefaultApi;
import io.ordertimeout.client.auth.ApiKeyAuth;
import io.ordertimeout.client.model.Problem;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.assertj.core.api.Assertions;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpRequest;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.web.client.RestClientResponseException;

/**
 * A client that is generated from the OpenAPI document, and which compares each response with the
 * document. Not thread-safe.
 */
final class DocumentedClient {

  /**
   * A response whose body was read.
   *
   * @param body as much of it as was read
   */
  private record ReadResponse(HttpStatusCode status, HttpHeaders headers, InputStream body)
      implements ClientHttpResponse {
    @Override
    public HttpStatusCode getStatusCode() {
      return status;
    }

    @Override
    public String getStatusText() {
      return status.toString();
    }

    @Override
    public HttpHeaders getHeaders() {
      return headers;
    }

    @Override
    public InputStream getBody() {
      return body;
    }

    @Override
    public void close() {}
  }

  private final ApiSchemas schemas = ApiSchemas.read();
  private final ApiClient client;
  private final DefaultApi api;
  private final Set<String> unused = new TreeSet<>(schemas.operations().keySet());
  private final List<String> faults = new ArrayList<>();
  private HttpHeaders lastHeaders = new HttpHeaders();

  DocumentedClient(URI service) {
    ClientHttpRequestInterceptor comparison = this::compare;
    client =
        new ApiClient(
            ApiClient.buildRestClientBuilder()
                .requestFactory(new JdkClientHttpRequestFactory())
                .requestInterceptor(comparison)
                .build());
    client.setBasePath(service.toString());
    api = new DefaultApi(client);
  }

  /** The requests, of the document's security schemes with what was last set. */
  DefaultApi api() {
    return api;
  }

  /** Authenticates each further request by a name and a password; null for neither. */
  void authenticate(@Nullable String user, @Nullable String password) {
    client.setUsername(user);
    client.setPassword(password);
  }

  /** Logs in and uses the session from then on, as the console does. */
  void logIn(String user, String password) {
    useCsrfToken();
    api.postSession(password, user);
    apiKey("session").setApiKey(cookie("order-timeout-session").orElseThrow());
    useCsrfToken();
  }

  /** Gets a token, unless there is one, which is sent as a cookie and as a header. */
  private void useCsrfToken() {
    api.getSession();
    cookie("XSRF-TOKEN")
        .ifPresent(
            token -> {
              client.addDefaultCookie("XSRF-TOKEN", token);
              apiKey("csrf").setApiKey(token);
            });
  }

  private ApiKeyAuth apiKey(String scheme) {
    return (ApiKeyAuth) client.getAuthentication(scheme);
  }

  private Optional<String> cookie(String name) {
    return lastHeaders.getValuesAsList(HttpHeaders.SET_COOKIE).stream()
        .filter(cookie -> cookie.startsWith(name + "="))
        .map(cookie -> cookie.substring(name.length() + 1).replaceFirst(";.*", ""))
        .findFirst();
  }

  /** The header of the last response; empty if it has none. */
  String lastHeader(String name) {
    return Objects.requireNonNullElse(lastHeaders.getFirst(name), "");
  }

  /** The problem with which a request is answered; fails if it succeeds. */
  static Problem problem(ThrowingCallable request) {
    RestClientResponseException refusal =
        Assertions.catchThrowableOfType(RestClientResponseException.class, request);
    return Objects.requireNonNull(refusal.getResponseBodyAs(Problem.class));
  }

  /** The operations that have not succeeded yet. */
  Set<String> unused() {
    return unused;
  }

  /** What contradicted the document in the responses so far. */
  List<String> faults() {
    return faults;
  }

  private ClientHttpResponse compare(
      HttpRequest request, byte[] body, ClientHttpRequestExecution execution) throws IOException {
    try (ClientHttpResponse response = execution.execute(request, body)) {
      MediaType type = response.getHeaders().getContentType();
      String mediaType = type == null ? "" : type.getType() + "/" + type.getSubtype();
      byte[] content =
          mediaType.equals(MediaType.TEXT_EVENT_STREAM_VALUE)
              ? firstEvent(response.getBody())
              : response.getBody().readAllBytes();
      HttpStatusCode status = response.getStatusCode();
      String operation =
          schemas.operation(request.getMethod().name(), request.getURI().getRawPath());
      faults.addAll(
          schemas.faults(
              operation, status.value(), mediaType, new String(content, StandardCharsets.UTF_8)));
      if (status.is2xxSuccessful()) {
        unused.remove(operation);
      }
      lastHeaders = HttpHeaders.copyOf(response.getHeaders());
      return new ReadResponse(status, lastHeaders, new ByteArrayInputStream(content));
    }
  }

  /** Closes the stream, of which the response would otherwise wait for the end. */
  private static byte[] firstEvent(InputStream stream) throws IOException {
    try (stream) {
      ByteArrayOutputStream event = new ByteArrayOutputStream();
      int last = 0;
      for (int next = stream.read(); next >= 0; next = stream.read()) {
        event.write(next);
        if (next == '\n' && last == '\n') {
          return event.toByteArray();
        }
        last = next;
      }
      throw new IOException("the stream ended within its first event");
    }
  }
}
