package io.ordertimeout.it.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** An HTTP client of a service, with or without credentials. Immutable. */
public final class Http {

  /** The operator's password in the services of a scenario. */
  public static final String OPERATOR_PASSWORD = "the operator's";

  /** The viewer's password in the services of a scenario. */
  public static final String VIEWER_PASSWORD = "the viewer's";

  private static final HttpClient CLIENT = HttpClient.newHttpClient();
  private static final Duration PATIENCE = Duration.ofSeconds(40);

  /** A response. */
  public record Answer(HttpResponse<String> response) {

    public int status() {
      return response.statusCode();
    }

    public String header(String name) {
      return response.headers().firstValue(name).orElse("");
    }

    /** The value of a cookie that the response sets; fails if there is none. */
    public String cookie(String name) {
      return response.headers().allValues("Set-Cookie").stream()
          .filter(header -> header.startsWith(name + "="))
          .map(header -> header.substring(name.length() + 1).replaceFirst(";.*", ""))
          .filter(value -> !value.isEmpty())
          .findFirst()
          .orElseThrow(
              () -> new AssertionError("no cookie " + name + " in " + response.headers().map()));
    }

    /** Fails unless the request has succeeded. */
    public Answer assertOk() {
      assertThat(status()).as(response.body()).isEqualTo(200);
      return this;
    }

    public JsonNode json() {
      return JsonMapper.shared().readTree(response.body());
    }
  }

  private final URI base;
  private final List<String> headers;

  private Http(URI base, List<String> headers) {
    this.base = base;
    this.headers = headers;
  }

  /** A client of the service on that port of this machine. */
  public static Http at(int port) {
    return new Http(URI.create("http://127.0.0.1:" + port), List.of());
  }

  public Http operator() {
    return as("operator", OPERATOR_PASSWORD);
  }

  public Http viewer() {
    return as("viewer", VIEWER_PASSWORD);
  }

  public Http as(String user, String password) {
    return with(
        "Authorization",
        "Basic "
            + Base64.getEncoder()
                .encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8)));
  }

  /** A client that also sends this header. */
  public Http with(String name, String value) {
    List<String> more = new ArrayList<>(headers);
    more.add(name);
    more.add(value);
    return new Http(base, more);
  }

  public URI base() {
    return base;
  }

  /** Sends a GET request, with parameters given as pairs. */
  public Answer get(String path, String... parameters) {
    return send(request(path, parameters).GET());
  }

  /** Sends a HEAD request. */
  public Answer head(String path) {
    return send(request(path).method("HEAD", HttpRequest.BodyPublishers.noBody()));
  }

  /**
   * Sends a POST request with a JSON body. The answer 503 says that Postgres or Kafka did not
   * answer in time and that nothing was changed, so the request is repeated for a while.
   */
  public Answer post(String path, Map<String, ?> body) {
    return Awaitility.await(path)
        .atMost(PATIENCE.multipliedBy(2))
        .until(() -> postOnce(path, body), answer -> answer.status() != 503);
  }

  /** Sends a POST request with a JSON body, and does not repeat it. */
  public Answer postOnce(String path, Map<String, ?> body) {
    return send(
        request(path)
            .header("Content-Type", "application/json")
            .POST(
                HttpRequest.BodyPublishers.ofString(JsonMapper.shared().writeValueAsString(body))));
  }

  /** Sends a POST request with a text. */
  public Answer postText(String path, String text) {
    return postText(path, "text/plain", text);
  }

  /** Sends a POST request with a text of that media type. */
  public Answer postText(String path, String mediaType, String text) {
    return send(
        request(path)
            .header("Content-Type", mediaType)
            .POST(HttpRequest.BodyPublishers.ofString(text)));
  }

  /** Sends a POST request with a form. */
  public Answer form(String path, String... fields) {
    return send(
        request(path)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(HttpRequest.BodyPublishers.ofString(encoded(fields))));
  }

  private HttpRequest.Builder request(String path, String... parameters) {
    String query = parameters.length == 0 ? "" : "?" + encoded(parameters);
    HttpRequest.Builder request =
        HttpRequest.newBuilder(base.resolve(path + query)).timeout(PATIENCE);
    return headers.isEmpty() ? request : request.headers(headers.toArray(String[]::new));
  }

  private static Answer send(HttpRequest.Builder request) {
    try {
      return new Answer(CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static String encoded(String... pairs) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < pairs.length; i += 2) {
      text.append(text.isEmpty() ? "" : "&")
          .append(pairs[i])
          .append('=')
          .append(URLEncoder.encode(pairs[i + 1], StandardCharsets.UTF_8));
    }
    return text.toString();
  }
}
