package io.ordertimeout.it.contract;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.ordertimeout.orders.operator.OrderBlocker;
import io.ordertimeout.orders.operator.OrderDetails;
import io.ordertimeout.orders.operator.status.Overview;
import io.swagger.v3.core.converter.AnnotatedType;
import io.swagger.v3.core.converter.ModelConverters;
import io.swagger.v3.oas.models.Components;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.PathItem;
import io.swagger.v3.oas.models.headers.Header;
import io.swagger.v3.oas.models.info.Info;
import io.swagger.v3.oas.models.media.ArraySchema;
import io.swagger.v3.oas.models.media.Content;
import io.swagger.v3.oas.models.media.Discriminator;
import io.swagger.v3.oas.models.media.IntegerSchema;
import io.swagger.v3.oas.models.media.MediaType;
import io.swagger.v3.oas.models.media.ObjectSchema;
import io.swagger.v3.oas.models.media.Schema;
import io.swagger.v3.oas.models.media.StringSchema;
import io.swagger.v3.oas.models.parameters.RequestBody;
import io.swagger.v3.oas.models.responses.ApiResponse;
import io.swagger.v3.oas.models.responses.ApiResponses;
import io.swagger.v3.oas.models.security.SecurityRequirement;
import io.swagger.v3.oas.models.security.SecurityScheme;
import io.swagger.v3.oas.models.servers.Server;
import io.swagger.v3.oas.models.tags.Tag;
import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springdoc.core.customizers.OpenApiCustomizer;
import org.springdoc.core.customizers.OperationCustomizer;
import org.springdoc.core.utils.SpringDocUtils;
import org.springframework.boot.info.BuildProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.JsonNode;

/**
 * What the OpenAPI document says beyond the signatures of the endpoints. Added to a service whose
 * API is described; names of schemas are those of Java types until {@link ApiDocument} shortens
 * them.
 */
@Configuration(proxyBeanMethods = false)
@SuppressWarnings({"rawtypes", "unchecked"}) // Swagger's models use raw types.
class ApiDescription {

  private static final String SOURCES = "../order-service/src/main/java/io/ordertimeout/orders";
  private static final String SCHEMAS = "#/components/schemas/";
  private static final String PROBLEM = "Problem";
  private static final String CRITERIA = "io.ordertimeout.orders.api.OrderCriteria";

  private static final Map<String, String> PARAMETERS =
      Map.of(
          "after", "The `next` of the page before; absent for the first page.",
          "limit", "The greatest number of entries of the page.",
          "total", "Whether to count the orders that match.",
          "subject", "The order, pause, hold, dead letter, topic or consumer group.",
          "fault", "The fault of the dead letters, as their groups state it.",
          "Idempotency-Key", "By which a repeated request is recognised.");

  /** The problems that a request may be answered with, besides success. */
  private static final Map<String, String> PROBLEMS =
      new TreeMap<>(
          Map.of(
              "400", "A parameter or a field of the body is invalid; `errors` names each.",
              "401", "No credentials, or wrong ones.",
              "403", "The role does not permit it, or the CSRF token is missing.",
              "404", "The subject does not exist.",
              "406", "The response has a media type that `Accept` excludes.",
              "429", "Too many failed log-ins or subscriptions.",
              "503", "Postgres or Kafka does not answer in time; nothing was changed."));

  private static final Map<String, String> PROBLEMS_OF_CHANGES =
      new TreeMap<>(
          Map.of(
              "408", "The body did not arrive in time.",
              "409", "The state of the subject does not permit the change.",
              "413", "The body is too large.",
              "415", "The body has the wrong media type."));

  /** What the first part of a path is about. */
  private static final Map<String, String> TAGS =
      Map.ofEntries(
          Map.entry("audit", "Audit log"),
          Map.entry("conflicts", "Conflicts"),
          Map.entry("dead-letters", "Dead letters"),
          Map.entry("events", "Events"),
          Map.entry("forecast", "Status"),
          Map.entry("group", "Consumer group"),
          Map.entry("holds", "Pauses and holds"),
          Map.entry("live", "Status"),
          Map.entry("order", "Orders"),
          Map.entry("orders", "Orders"),
          Map.entry("orders.csv", "Orders"),
          Map.entry("overview", "Status"),
          Map.entry("parked", "Orders"),
          Map.entry("pauses", "Pauses and holds"),
          Map.entry("policies", "Policies"),
          Map.entry("session", "Session"),
          Map.entry("stopped-topics", "Dead letters"));

  private static final Map<String, String> TAG_DESCRIPTIONS =
      new TreeMap<>(
          Map.of(
              "Audit log", "What operators have changed, and why.",
              "Conflicts", "Payments that met a cancelled or closed order.",
              "Consumer group", "The generation of the group that reads the events.",
              "Dead letters", "Events that cannot be used, and topics that are not read on.",
              "Events", "What the service makes of an event.",
              "Orders", "Finding orders, and extending, closing, cancelling and releasing them.",
              "Pauses and holds", "What keeps due orders from being decided.",
              "Policies", "Which deadline an order gets.",
              "Session", "Logging in and out with a cookie.",
              "Status", "What is pending, due and late, and how the instances are."));

  private static final List<SecurityRequirement> SECURITY =
      List.of(
          new SecurityRequirement().addList("basic"),
          new SecurityRequirement().addList("bearer"),
          new SecurityRequirement().addList("session").addList("csrf"));

  static {
    SpringDocUtils.getConfig().replaceWithSchema(JsonNode.class, new ObjectSchema());
  }

  private final Javadoc javadoc = Javadoc.read(Path.of(SOURCES));

  @Bean
  OpenAPI api(BuildProperties build) {
    return new OpenAPI()
        .info(
            new Info()
                .title("Order timeout")
                .version(Objects.requireNonNull(build.getVersion()).replace("-SNAPSHOT", ""))
                .description(
                    "Watches the payment deadline of every order, and lets operators look into and"
                        + " change what it does. A list is read page by page: pass the `next` of a"
                        + " page, unchanged, as `after` of the next request; it is null on the last"
                        + " page. Fields may be added to responses."))
        // Relative to the document's own address, which may be below a path of its host.
        .servers(List.of(new Server().url("..").description("The instance that serves this file")))
        .security(SECURITY)
        .tags(
            TAG_DESCRIPTIONS.entrySet().stream()
                .map(tag -> new Tag().name(tag.getKey()).description(tag.getValue()))
                .toList())
        .components(
            new Components()
                .addSecuritySchemes(
                    "basic",
                    new SecurityScheme()
                        .type(SecurityScheme.Type.HTTP)
                        .scheme("basic")
                        .description("A local user, if no identity provider is configured."))
                .addSecuritySchemes(
                    "bearer",
                    new SecurityScheme()
                        .type(SecurityScheme.Type.HTTP)
                        .scheme("bearer")
                        .bearerFormat("JWT")
                        .description("A token of the configured identity provider."))
                .addSecuritySchemes(
                    "session",
                    new SecurityScheme()
                        .type(SecurityScheme.Type.APIKEY)
                        .in(SecurityScheme.In.COOKIE)
                        .name("order-timeout-session")
                        .description("The cookie that a log-in sets."))
                .addSecuritySchemes(
                    "csrf",
                    new SecurityScheme()
                        .type(SecurityScheme.Type.APIKEY)
                        .in(SecurityScheme.In.HEADER)
                        .name("X-XSRF-TOKEN")
                        .description(
                            "The value of the cookie XSRF-TOKEN; only for POST within a session.")));
  }

  @Bean
  OperationCustomizer operations() {
    return (operation, method) -> {
      String description =
          javadoc.method(
              String.valueOf(method.getBeanType().getCanonicalName()),
              method.getMethod().getName());
      operation.setSummary(description == null ? null : description.replaceFirst("\\. .*", "."));
      operation.setDescription(description);
      return operation;
    };
  }

  @Bean
  OpenApiCustomizer document() {
    return api -> {
      Map<String, Schema> schemas = api.getComponents().getSchemas();
      ModelConverters.getInstance()
          .readAllAsResolvedSchema(new AnnotatedType(Overview.Now.class))
          .referencedSchemas
          .forEach(schemas::putIfAbsent);
      schemas.keySet().removeIf(name -> !name.startsWith("io.ordertimeout."));
      tellAlternativesApart(schemas);
      schemas.forEach(this::describe);
      schemas.put(PROBLEM, problem());
      addLogIn(Objects.requireNonNull(api.getPaths().get("/api/v1/session")));
      api.getPaths().put("/api/v1/session/end", logOut());
      api.getPaths()
          .forEach(
              (path, item) ->
                  item.readOperationsMap()
                      .forEach((method, operation) -> complete(path, method, operation)));
    };
  }

  /** Adds what is required, what may be null, and what each field is. */
  private void describe(String name, Schema<?> schema) {
    Class<?> type = typeOf(name);
    if (type == null) {
      return; // described where it is used
    }
    String canonical = type.getCanonicalName();
    schema.setDescription(javadoc.type(canonical));
    // An alternative consists of a reference and of its own fields.
    Schema<?> fields = schema.getAllOf() == null ? schema : (Schema<?>) schema.getAllOf().get(1);
    if (!type.isRecord() || fields.getProperties() == null) {
      return;
    }
    boolean areNullsAbsent = name.contains("Request") || OrderBlocker.class.isAssignableFrom(type);
    List<String> required = new ArrayList<>();
    for (RecordComponent component : components(type)) {
      Schema<?> property = existing(fields.getProperties(), component.getName());
      boolean isNullable = component.getAnnotatedType().isAnnotationPresent(Nullable.class);
      if (!isNullable || !areNullsAbsent) {
        required.add(component.getName());
      }
      String description =
          javadoc.component(component.getDeclaringRecord().getCanonicalName(), component.getName());
      fields.getProperties().put(component.getName(), described(property, isNullable, description));
    }
    fields.setRequired(required);
  }

  /** The components of a record, with those of records whose fields are among its own. */
  private static List<RecordComponent> components(Class<?> type) {
    return Stream.of(type.getRecordComponents())
        .flatMap(
            component ->
                component.getAccessor().isAnnotationPresent(JsonUnwrapped.class)
                    ? Stream.of(component.getType().getRecordComponents())
                    : Stream.of(component))
        .toList();
  }

  /** Names the value of the field by which the reasons why an order waits differ. */
  private static void tellAlternativesApart(Map<String, Schema> schemas) {
    String reason = OrderBlocker.class.getCanonicalName();
    Discriminator discriminator = existing(schemas, reason).getDiscriminator();
    for (JsonSubTypes.Type alternative :
        OrderBlocker.class.getAnnotation(JsonSubTypes.class).value()) {
      discriminator.mapping(alternative.name(), SCHEMAS + alternative.value().getCanonicalName());
    }
    Schema<?> order = existing(schemas, OrderDetails.class.getCanonicalName());
    existing(order.getProperties(), "waitsFor").setItems(new Schema<>().$ref(SCHEMAS + reason));
  }

  private static Schema<?> existing(Map<String, Schema> schemas, String name) {
    return Objects.requireNonNull(schemas.get(name), name);
  }

  /** Finds the type with a canonical name, to which those of type arguments may be added. */
  private static @Nullable Class<?> typeOf(String schema) {
    String name = schema.replaceFirst("Io\\.ordertimeout\\..*", "");
    while (true) {
      try {
        return Class.forName(name);
      } catch (ClassNotFoundException e) {
        int dot = name.lastIndexOf('.');
        if (dot < 0) {
          return null;
        }
        name = name.substring(0, dot) + "$" + name.substring(dot + 1);
      }
    }
  }

  /** In OpenAPI 3.0, nothing may stand beside a reference. */
  private static Schema<?> described(
      Schema<?> property, boolean isNullable, @Nullable String description) {
    Schema<?> result =
        property.get$ref() == null ? property : new Schema<>().allOf(List.of(property));
    result.setDescription(description);
    if ("duration".equals(result.getFormat())) {
      result.setFormat(null); // In JSON Schema, a duration has no fractions of seconds.
    }
    result.setNullable(isNullable ? true : null);
    return result;
  }

  private static Schema<?> problem() {
    Schema<?> error = new ObjectSchema();
    error.addProperty("field", new StringSchema());
    error.addProperty("message", new StringSchema());
    error.setRequired(List.of("field", "message"));
    Schema<?> problem = new ObjectSchema();
    problem.setDescription("What is wrong with a request (RFC 9457).");
    problem.addProperty("type", new StringSchema().format("uri"));
    problem.addProperty("title", new StringSchema());
    problem.addProperty("status", new IntegerSchema());
    problem.addProperty("detail", new StringSchema());
    problem.addProperty("instance", new StringSchema());
    problem.addProperty(
        "errors", new ArraySchema().items(error).description("One for each wrong field"));
    problem.setRequired(List.of("type", "title", "status"));
    problem.setExample(
        Map.of(
            "type", "urn:order-timeout:problem:invalid-request",
            "title", "Bad Request",
            "status", 400,
            "detail", "limit: must be between 1 and 500",
            "instance", "/api/v1/orders",
            "errors", List.of(Map.of("field", "limit", "message", "must be between 1 and 500"))));
    return problem;
  }

  private static void addLogIn(PathItem session) {
    session.getGet().setParameters(null);
    // Optional: who is not logged in may ask as well.
    session
        .getGet()
        .setSecurity(
            Stream.concat(Stream.of(new SecurityRequirement()), SECURITY.stream()).toList());
    Schema<?> form = new ObjectSchema();
    form.addProperty("username", new StringSchema());
    form.addProperty("password", new StringSchema().format("password"));
    form.setRequired(List.of("username", "password"));
    session.post(
        new Operation()
            .summary("Logs in with a name and a password, and starts a session.")
            .description(
                "Get the CSRF token first, by GET of this path, and again after the log-in. Only"
                    + " for local users.")
            .security(List.of(new SecurityRequirement().addList("csrf")))
            .requestBody(
                new RequestBody()
                    .required(true)
                    .content(
                        new Content()
                            .addMediaType(
                                "application/x-www-form-urlencoded", new MediaType().schema(form))))
            .responses(
                new ApiResponses()
                    .addApiResponse("204", new ApiResponse().description("Logged in."))));
  }

  private static PathItem logOut() {
    return new PathItem()
        .post(
            new Operation()
                .summary("Ends the session.")
                .security(List.of(new SecurityRequirement().addList("session").addList("csrf")))
                .responses(
                    new ApiResponses()
                        .addApiResponse("204", new ApiResponse().description("Logged out."))));
  }

  private void complete(String path, PathItem.HttpMethod method, Operation operation) {
    operation.setOperationId(operationId(path, method));
    operation.setTags(List.of(Objects.requireNonNull(TAGS.get(path.split("/", -1)[3]), path)));
    ApiResponses responses = operation.getResponses();
    if (path.equals("/api/v1/live")) {
      Schema<?> events =
          new StringSchema()
              .description(
                  "Every second an event named `overview`, whose data is the JSON of GET"
                      + " /api/v1/overview.");
      responses.put(
          "200",
          new ApiResponse()
              .description("The stream")
              .content(
                  new Content().addMediaType("text/event-stream", new MediaType().schema(events))));
    }
    boolean isChange = method == PathItem.HttpMethod.POST;
    responses
        .values()
        .forEach(
            response -> {
              if (Objects.equals(response.getDescription(), "OK")) {
                response.setDescription("Success");
              }
            });
    ApiResponse success = responses.get("200");
    if (success != null && success.getContent() != null) {
      MediaType json = success.getContent().remove("*/*");
      if (json != null) {
        success.getContent().addMediaType("application/json", json);
      }
    }
    if (success != null && takesKey(operation)) {
      success.addHeaderObject(
          "Idempotent-Replayed",
          new Header()
              .description("`true` if an earlier request has made the change.")
              .schema(new StringSchema()));
    }
    if (operation.getParameters() != null) {
      operation
          .getParameters()
          .forEach(
              parameter -> {
                String name = parameter.getName();
                String criterion = javadoc.component(CRITERIA, name);
                parameter.setDescription(
                    PARAMETERS.getOrDefault(
                        name, path.startsWith("/api/v1/orders") ? criterion : null));
                // Absent is not null.
                parameter.getSchema().setNullable(null);
              });
    }
    if (responses.get("200") != null && isChange && operation.getRequestBody() != null) {
      operation.getRequestBody().setRequired(true);
    }
    if (isChange && path.startsWith("/api/v1/order/")) {
      responses.put(
          "204", new ApiResponse().description("Changed; nothing but its parking was known."));
    }
    PROBLEMS.forEach((status, text) -> addProblem(responses, status, text));
    if (path.endsWith("/effect")) {
      addProblem(responses, "409", "The pause has ended.");
    }
    if (isChange) {
      PROBLEMS_OF_CHANGES.forEach((status, text) -> addProblem(responses, status, text));
    }
  }

  private static boolean takesKey(Operation operation) {
    return operation.getParameters() != null
        && operation.getParameters().stream()
            .anyMatch(parameter -> "Idempotency-Key".equals(parameter.getName()));
  }

  private static void addProblem(ApiResponses responses, String status, String text) {
    responses.put(
        status,
        new ApiResponse()
            .description(text)
            .content(
                new Content()
                    .addMediaType(
                        "application/problem+json",
                        new MediaType().schema(new Schema<>().$ref(SCHEMAS + PROBLEM)))));
  }

  /** The method and the path: POST /api/v1/pauses/{id}/end is postPausesByIdEnd. */
  private static String operationId(String path, PathItem.HttpMethod method) {
    StringBuilder id = new StringBuilder(method.name().toLowerCase(Locale.ROOT));
    for (String word :
        path.replace("/api/v1", "")
            .replace("{", "by-")
            .replace("}", "")
            .split("[^A-Za-z0-9]+", -1)) {
      if (!word.isEmpty()) {
        id.append(Character.toUpperCase(word.charAt(0))).append(word.substring(1));
      }
    }
    return id.toString();
  }
}
