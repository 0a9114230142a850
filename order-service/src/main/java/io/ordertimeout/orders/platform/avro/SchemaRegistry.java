package io.ordertimeout.orders.platform.avro;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.ordertimeout.orders.OrderTimeoutProperties;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.avro.NameValidator;
import org.apache.avro.Schema;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;
import org.springframework.util.function.SingletonSupplier;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A schema registry with Confluent's API. Each schema is requested once as long as it is among the
 * latest thousand. A schema that does not exist or is not one of Avro makes its records unusable.
 * Any other failure is an outage of the registry, after which no request is sent for a moment.
 * Requests go on in the background, because the thread of a consumer, which reads many partitions,
 * waits for an answer only briefly. Thread-safe.
 */
@Component
public final class SchemaRegistry {

  static final int MAX_SCHEMAS = 1_000;

  /** Number of schemas that are requested at the same time. */
  static final int MAX_REQUESTS = 16;

  /** How long a thread waits for the answer to a request, unless there is an outage. */
  private static final Duration WAIT = Duration.ofMillis(250);

  /** How long a schema is taken for unusable; somebody may register it. */
  private static final Duration UNUSABLE_FOR = Duration.ofSeconds(10);

  /** Pause after a failure, so that the records of a batch do not fail by a time-out each. */
  private static final Duration PAUSE = Duration.ofMillis(500);

  /** How long an outage is remembered without an answer; longer than the longest time-out. */
  private static final Duration REMEMBERED = Duration.ofMinutes(2);

  private static final int OK = 200;
  private static final int NOT_FOUND = 404;

  /** Incompatible with the versions before it, or not supported. */
  private static final Set<Integer> REFUSALS = Set.of(409, 422);

  /** The registry's codes for a subject, a version and a schema that it does not know. */
  private static final Set<Integer> UNKNOWN = Set.of(40401, 40402, 40403);

  private static final JsonMapper JSON = JsonMapper.builder().build();

  /**
   * An outage of the registry.
   *
   * @param pauseEndNanos when requests may be sent again
   */
  private record Outage(String message, long pauseEndNanos) {}

  /** A request for a schema that was not answered yet. */
  private record Request(CompletableFuture<Schema> answer, long sentNanos) {}

  private final OrderTimeoutProperties.SchemaRegistry properties;
  private final Duration wait;
  private final SingletonSupplier<HttpClient> http;
  private final Cache<Integer, Schema> schemas =
      Caffeine.newBuilder().maximumSize(MAX_SCHEMAS).build();
  private final Cache<Integer, String> unusable =
      Caffeine.newBuilder().maximumSize(MAX_SCHEMAS).expireAfterWrite(UNUSABLE_FOR).build();
  private final Map<Integer, Request> requests = new ConcurrentHashMap<>();

  /** The latest outage, unless the registry has answered since. */
  private volatile @Nullable Outage lastOutage;

  @Autowired
  SchemaRegistry(OrderTimeoutProperties properties) {
    this(properties, WAIT);
  }

  SchemaRegistry(OrderTimeoutProperties properties, Duration wait) {
    this.properties = properties.schemaRegistry();
    this.wait = wait;
    this.http =
        SingletonSupplier.of(
            () ->
                HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .connectTimeout(this.properties.timeout())
                    .build());
  }

  /**
   * Returns the schema with that id.
   *
   * @throws UnusableAvroException if there is none, or it is not one of Avro
   * @throws SchemaRegistryUnavailableException if the registry does not answer, or not soon
   */
  Schema schema(int id) throws UnusableAvroException {
    Schema known = schemas.getIfPresent(id);
    if (known != null) {
      return known;
    }
    String fault = unusable.getIfPresent(id);
    if (fault != null) {
      throw unusable(id, fault);
    }
    Outage outage = outage();
    Request request = request(id, outage);
    long waited = System.nanoTime() - request.sentNanos;
    try {
      // In an outage, each schema would cost the consumer another wait.
      return request.answer.get(outage == null ? wait.toNanos() - waited : 0, NANOSECONDS);
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof UnusableAvroException cause) {
        throw unusable(id, String.valueOf(cause.getMessage()));
      }
      throw e.getCause() instanceof SchemaRegistryUnavailableException cause
          ? cause
          : unavailable(e);
    } catch (TimeoutException e) {
      if (outage == null) {
        outage = unanswered();
        lastOutage = outage;
      }
      throw new SchemaRegistryUnavailableException(outage.message, request.answer);
    }
  }

  private static UnusableAvroException unusable(int id, String fault) {
    return new UnusableAvroException("its schema " + id + " is unusable: " + fault);
  }

  private @Nullable Outage outage() {
    Outage last = lastOutage;
    return last == null || System.nanoTime() - last.pauseEndNanos > REMEMBERED.toNanos()
        ? null
        : last;
  }

  /** An outage that may end at any time. */
  private Outage unanswered() {
    return new Outage(message("has not answered yet"), System.nanoTime());
  }

  /** Returns the open request for a schema, which is sent if there is none. */
  private synchronized Request request(int id, @Nullable Outage outage) {
    Request open = requests.get(id);
    if (open != null) {
      return open;
    }
    if (outage != null && System.nanoTime() - outage.pauseEndNanos < 0) {
      throw new SchemaRegistryUnavailableException(outage.message);
    }
    if (requests.size() >= MAX_REQUESTS) {
      throw new SchemaRegistryUnavailableException(unanswered().message);
    }
    // Names and defaults are not validated: they do not matter for reading.
    Schema.Parser parser = new Schema.Parser(NameValidator.NO_VALIDATION);
    parser.setValidateDefaults(false);
    CompletableFuture<Schema> answer =
        get("/schemas/ids/" + id).thenCompose(found -> parse(found, parser, new HashSet<>()));
    Request request = new Request(answer, System.nanoTime());
    requests.put(id, request);
    CompletableFuture<?> unused =
        answer.whenComplete(
            (schema, failure) -> {
              if (failure == null) {
                schemas.put(id, schema);
                lastOutage = null;
              } else if (cause(failure) instanceof UnusableAvroException cause) {
                unusable.put(id, String.valueOf(cause.getMessage()));
                lastOutage = null;
              }
              requests.remove(id);
            });
    return request;
  }

  /** Parses a schema after those that it refers to. */
  private CompletableFuture<Schema> parse(
      JsonNode answer, Schema.Parser parser, Set<String> references) {
    String type = answer.path("schemaType").asString("AVRO");
    if (!type.equals("AVRO")) {
      return CompletableFuture.failedFuture(new UnusableAvroException("it is of the type " + type));
    }
    CompletableFuture<?> parsed = CompletableFuture.completedFuture(answer);
    for (JsonNode reference : answer.path("references")) {
      String path =
          "/subjects/%s/versions/%s"
              .formatted(
                  encoded(reference.path("subject").asString("")),
                  reference.path("version").asString(""));
      parsed =
          parsed.thenCompose(
              previous ->
                  references.add(path)
                      ? get(path).thenCompose(found -> parse(found, parser, references))
                      : CompletableFuture.completedFuture(null));
    }
    return parsed.thenApply(
        previous -> {
          try {
            return parser.parse(answer.path("schema").asString(""));
          } catch (RuntimeException e) {
            // Avro throws NullPointerException, too, for a type that does not exist.
            throw new CompletionException(
                new UnusableAvroException(String.valueOf(e.getMessage())));
          }
        });
  }

  private CompletableFuture<JsonNode> get(String path) {
    return send(request(path).build())
        .handle(
            (response, failure) -> {
              if (failure != null) {
                throw unavailable(failure);
              }
              JsonNode answer = json(response.body());
              if (response.statusCode() == OK && answer.path("schema").isString()) {
                return answer;
              }
              if (isUnknown(response)) {
                throw new CompletionException(
                    new UnusableAvroException("the schema registry does not know " + path));
              }
              throw unavailable("answered with status " + response.statusCode());
            });
  }

  /**
   * Registers a schema unless the subject already has it, for which it suffices to have the
   * permission to read.
   *
   * @return completes with the schema's id, or with a {@link SchemaRegistryUnavailableException} if
   *     the registry does not answer, or with another exception if it refuses the schema
   */
  public CompletableFuture<Integer> register(String subject, Schema schema) {
    String path = "/subjects/" + encoded(subject);
    String body = JSON.writeValueAsString(Map.of("schema", schema.toString()));
    return post(path, body)
        .thenCompose(
            found ->
                isUnknown(found)
                    ? post(path + "/versions", body)
                    : CompletableFuture.completedFuture(found))
        .handle(
            (response, failure) -> {
              if (failure != null) {
                throw unavailable(failure);
              }
              JsonNode answer = json(response.body());
              if (response.statusCode() == OK && answer.path("id").isInt()) {
                return answer.path("id").intValue();
              }
              if (REFUSALS.contains(response.statusCode())) {
                throw new InvalidConfigurationException(
                    "the schema registry refuses the schema of %s: %s"
                        .formatted(subject, answer.path("message").asString("")));
              }
              throw unavailable("answered with status " + response.statusCode());
            });
  }

  private CompletableFuture<HttpResponse<byte[]>> post(String path, String body) {
    return send(
        request(path)
            .header("Content-Type", "application/vnd.schemaregistry.v1+json")
            .POST(BodyPublishers.ofString(body))
            .build());
  }

  /** Any other 404 may come from a gateway, or be due to a wrong URL. */
  private static boolean isUnknown(HttpResponse<byte[]> response) {
    return response.statusCode() == NOT_FOUND
        && UNKNOWN.contains(json(response.body()).path("error_code").asInt(0));
  }

  private HttpRequest.Builder request(String path) {
    String url = Objects.requireNonNull(properties.url());
    String base = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(base + path))
            .header("Accept", "application/vnd.schemaregistry.v1+json, application/json");
    if (properties.username() != null) {
      String logIn = properties.username() + ":" + properties.password();
      request.header(
          "Authorization",
          "Basic " + Base64.getEncoder().encodeToString(logIn.getBytes(StandardCharsets.UTF_8)));
    }
    return request;
  }

  private CompletableFuture<HttpResponse<byte[]>> send(HttpRequest request) {
    CompletableFuture<HttpResponse<byte[]>> answer =
        http.obtain().sendAsync(request, BodyHandlers.ofByteArray());
    return answer
        .copy()
        // Bounds the time of the whole answer; the time-out of a request ends with the headers.
        .orTimeout(properties.timeout().toMillis(), TimeUnit.MILLISECONDS)
        // Closes the connection, which would stay open as long as the registry is silent.
        .whenComplete((response, failure) -> answer.cancel(true));
  }

  private static Throwable cause(Throwable failure) {
    Throwable cause = failure;
    while (cause.getCause() != null
        && (cause instanceof ExecutionException || cause instanceof CompletionException)) {
      cause = cause.getCause();
    }
    return cause;
  }

  private SchemaRegistryUnavailableException unavailable(Throwable failure) {
    Throwable cause = cause(failure);
    return unavailable(
        cause instanceof TimeoutException
            ? "does not answer within " + properties.timeout()
            : "cannot be reached: " + cause);
  }

  private SchemaRegistryUnavailableException unavailable(String problem) {
    String message = message(problem);
    lastOutage = new Outage(message, System.nanoTime() + PAUSE.toNanos());
    return new SchemaRegistryUnavailableException(message);
  }

  private String message(String problem) {
    return "the schema registry at " + properties.url() + " " + problem;
  }

  private static JsonNode json(byte[] body) {
    try {
      return JSON.readTree(body);
    } catch (JacksonException e) {
      return JSON.missingNode();
    }
  }

  private static String encoded(String segment) {
    return URLEncoder.encode(segment, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
