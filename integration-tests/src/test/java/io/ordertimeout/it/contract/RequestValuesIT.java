package io.ordertimeout.it.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Http.Answer;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.SuspensionRows;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Every value that enters the API is of the kind that the OpenAPI document states, or the request
 * is refused with an error that names the field and the value, and nothing is changed.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RequestValuesIT {

  /** An error that a wrong value causes. */
  private record Refused(String field, String message) {}

  /**
   * A field of a body, in an example of the body.
   *
   * @param operation the method and path
   * @param before the example up to the field's name
   * @param name the field's name, in quotation marks with a colon; empty for an item of an array
   * @param value the field's value
   * @param after the rest of the example
   * @param path the field's path
   * @param schema what the document says of it
   */
  record Field(
      String operation,
      String before,
      String name,
      String value,
      String after,
      String path,
      JsonNode schema) {

    String with(String other) {
      return before + name + other + after;
    }

    String twice() {
      return before + name + value + "," + name + value + after;
    }

    @Override
    public String toString() {
      return operation + " " + path;
    }
  }

  /** A query parameter or a part of a path. */
  record Parameter(String operation, String name, JsonNode description) {
    @Override
    public String toString() {
      return operation + " " + name;
    }
  }

  private static final List<String> NO_TIMES =
      List.of(
          "",
          " ",
          "soon",
          "1795550400000",
          "2026-11-24",
          "2026-11-24T18:30:00",
          "2026-11-24T18:30:00 Europe/Berlin",
          "2026-11-24T18:30:00+24:00",
          "2026-02-30T18:30:00Z",
          "+58869-01-01T00:00:00Z");

  private static final Map<String, List<String>> WRONG_IN_BODIES =
      Map.of(
          "string",
          List.of("7", "7.9", "1e2", "true", "false"),
          "date-time",
          List.of("1795550400000", "1795550400", "7.9", "true"),
          "integer",
          List.of("\"7\"", "\"\"", "7.9", "7.0", "1e1", "true", "99999999999999999999"),
          "boolean",
          List.of("\"false\"", "\"true\"", "\"\"", "0", "1", "7.9"),
          "array",
          List.of("7", "true", "\"x\"", "\"\""),
          "object",
          List.of("7", "true", "\"x\"", "\"\""));

  private static final Map<String, List<String>> WRONG_IN_PARAMETERS =
      Map.of(
          "integer",
          List.of("", " ", "7.9", "0x7", "7 ", " 7", "+7", "007", "٧", "99999999999999999999"),
          "boolean",
          List.of("", "yes", "on", "1", "0", "TRUE", " true"),
          "number",
          List.of("", "ten"),
          "array",
          List.of("", "PAID,", "paid"));

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Service service = scenario.startService();
  private final Http operator = service.http().operator();

  /** Refused requests have no effect; all others of this class end the pause that they place. */
  @AfterEach
  void nothingIsChanged() {
    assertThat(scenario.database().count(SuspensionRows.PAUSES_IN_FORCE)).isZero();
    assertThat(
            scenario
                .database()
                .count(
                    "select count(*) from operator_action"
                        + " where action not in ('PAUSE_EXPIRY', 'RESUME_EXPIRY')"))
        .isZero();
  }

  static Stream<Field> fields() {
    ApiSchemas schemas = ApiSchemas.read();
    List<Field> fields = new ArrayList<>();
    schemas
        .operations()
        .forEach(
            (operation, description) -> {
              JsonNode schema = description.at("/requestBody/content/application~1json/schema");
              if (!schema.isMissingNode()) {
                JsonNode resolved = resolved(schemas, schema);
                addFields(
                    schemas, operation, "", "", resolved, resolved.path("example"), "", fields);
              }
            });
    return fields.stream();
  }

  private static JsonNode resolved(ApiSchemas schemas, JsonNode schema) {
    return schema.has("$ref")
        ? schemas.schemas().path(schema.path("$ref").asString().replaceFirst(".*/", ""))
        : schema;
  }

  private static void addFields(
      ApiSchemas schemas,
      String operation,
      String before,
      String after,
      JsonNode schema,
      JsonNode example,
      String path,
      List<Field> fields) {
    Map<String, String> others = new LinkedHashMap<>();
    schema
        .path("properties")
        .propertyNames()
        .forEach(
            name ->
                others.put(
                    name,
                    example.has(name) ? example.path(name).toString() : "\"a correct value\""));
    schema
        .path("properties")
        .properties()
        .forEach(
            property -> {
              String name = property.getKey();
              Map<String, String> rest = new LinkedHashMap<>(others);
              String value = String.valueOf(rest.remove(name));
              StringBuilder first = new StringBuilder(before).append('{');
              rest.forEach((other, text) -> first.append(quoted(other)).append(text).append(','));
              addField(
                  schemas,
                  new Field(
                      operation,
                      first.toString(),
                      quoted(name),
                      value,
                      "}" + after,
                      path + (path.isEmpty() ? "" : ".") + name,
                      resolved(schemas, property.getValue())),
                  fields);
            });
  }

  private static String quoted(String name) {
    return '"' + name + "\":";
  }

  private static void addField(ApiSchemas schemas, Field field, List<Field> fields) {
    fields.add(field);
    if (field.schema.path("type").asString("").equals("array")) {
      JsonNode item = JsonMapper.shared().readTree(field.value).path(0);
      JsonNode schema = resolved(schemas, field.schema.path("items"));
      Field first =
          new Field(
              field.operation,
              field.before + field.name + "[",
              "",
              item.toString(),
              "]" + field.after,
              field.path + "[0]",
              schema);
      fields.add(first);
      addFields(
          schemas, field.operation, first.before, first.after, schema, item, first.path, fields);
    }
  }

  @ParameterizedTest
  @MethodSource("fields")
  void aBodyIsReadAsItIsWritten(Field field) {
    String kind = kind(field.schema);
    List<String> wrong = new ArrayList<>(WRONG_IN_BODIES.getOrDefault(kind, List.of()));
    assertThat(wrong).as("wrong values of " + kind).isNotEmpty();
    if (kind.equals("date-time")) {
      NO_TIMES.forEach(time -> wrong.add('"' + time + '"'));
    }
    for (String value : wrong) {
      assertThat(refusals(field, field.with(value)))
          .as(value)
          .singleElement()
          .satisfies(
              refusal -> {
                assertThat(refusal.field()).isEqualTo(field.path);
                assertThat(refusal.message()).contains(" " + value + ";");
              });
    }
    List<String> structures = new ArrayList<>(List.of("{\"a\":1}", "[1]"));
    structures.removeIf(structure -> kind.equals(structure.startsWith("{") ? "object" : "array"));
    for (String structure : structures) {
      assertThat(refusals(field, field.with(structure)))
          .as(structure)
          .singleElement()
          .satisfies(
              refusal -> {
                assertThat(refusal.field()).isEqualTo(field.path);
                assertThat(refusal.message()).contains("…");
              });
    }
    if (!field.schema.path("nullable").asBoolean(false)) {
      assertThat(refusals(field, field.with("null")))
          .as("null")
          .extracting(Refused::field)
          .containsExactly(field.path);
    }
    if (!field.name.isEmpty()) {
      assertThat(refusals(field, field.twice()))
          .as("twice")
          .singleElement()
          .satisfies(
              refusal -> {
                assertThat(refusal.field()).isEqualTo(field.path);
                assertThat(refusal.message()).contains("Duplicate");
              });
    }
  }

  private static String kind(JsonNode schema) {
    return schema.path("format").asString("").equals("date-time")
        ? "date-time"
        : schema.path("type").asString();
  }

  private List<Refused> refusals(Field field, String body) {
    String path = field.operation.substring(field.operation.indexOf(' ') + 1);
    return refusals(operator.postText(filled(path, Map.of()), "application/json", body));
  }

  private static List<Refused> refusals(Answer answer) {
    assertThat(answer.status()).as(answer.response().body()).isEqualTo(400);
    assertThat(answer.json().path("type").asString())
        .isEqualTo("urn:order-timeout:problem:invalid-request");
    return answer
        .json()
        .path("errors")
        .valueStream()
        .map(error -> new Refused(error.path("field").asString(), error.path("message").asString()))
        .toList();
  }

  /** A path with values for its parts: numbers that nothing has, unless given. */
  private static String filled(String path, Map<String, String> parts) {
    String filled = path;
    for (Map.Entry<String, String> part : parts.entrySet()) {
      filled = filled.replace("{" + part.getKey() + "}", part.getValue());
    }
    return filled.replaceAll("\\{[^}]+}", "77777");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "null",
        "",
        "[]",
        "\"x\"",
        "7",
        "{\"reason\":\"x\"} {}",
        "{\"reason\":\"x\"}]",
        "[{\"reason\":\"x\"}]"
      })
  void aBodyIsOneObject(String body) {
    Answer answer = operator.postText("/api/v1/pauses/77777/end", "application/json", body);
    assertThat(refusals(answer)).extracting(Refused::field).containsExactly("body");
  }

  static Stream<Parameter> parameters() {
    List<Parameter> parameters = new ArrayList<>();
    ApiSchemas.read()
        .operations()
        .forEach(
            (operation, description) ->
                description
                    .path("parameters")
                    .valueStream()
                    .filter(parameter -> !parameter.path("in").asString().equals("header"))
                    .map(
                        parameter ->
                            new Parameter(operation, parameter.path("name").asString(), parameter))
                    .forEach(parameters::add));
    return parameters.stream()
        .filter(
            parameter ->
                parameter.description.path("in").asString().equals("query")
                    || !kind(parameter.description.path("schema")).equals("string"));
  }

  @ParameterizedTest
  @MethodSource("parameters")
  void aParameterIsReadAsItIsWritten(Parameter parameter) {
    JsonNode schema = parameter.description.path("schema");
    String kind = kind(schema);
    boolean isQuery = parameter.description.path("in").asString().equals("query");
    List<String> wrong =
        switch (kind) {
          case "string" -> List.<String>of();
          case "date-time" -> NO_TIMES;
          default -> Objects.requireNonNull(WRONG_IN_PARAMETERS.get(kind));
        };
    for (String value : wrong) {
      // A path whose part is empty is another one.
      if (isQuery || !value.isBlank()) {
        assertThat(refusals(send(parameter, isQuery, value)))
            .as("'%s'", value)
            .singleElement()
            .satisfies(
                refusal -> {
                  assertThat(refusal.field()).isEqualTo(parameter.name);
                  assertThat(refusal.message()).contains("'" + value + "'");
                });
      }
    }
    if (isQuery && !kind.equals("array")) {
      assertThat(refusals(send(parameter, true, "1", "2")))
          .singleElement()
          .satisfies(
              refusal -> {
                assertThat(refusal.field()).isEqualTo(parameter.name);
                assertThat(refusal.message()).contains("more than once: 1, 2");
              });
    }
  }

  private Answer send(Parameter parameter, boolean isQuery, String... values) {
    String[] operation = parameter.operation.split(" ", 2);
    String path =
        filled(
            operation[1],
            isQuery
                ? Map.of()
                : Map.of(
                    parameter.name,
                    URLEncoder.encode(values[0], StandardCharsets.UTF_8).replace("+", "%20")));
    if (operation[0].equals("POST")) {
      return operator.post(path, Map.of("reason", "nothing is there"));
    }
    List<String> query = new ArrayList<>();
    for (String value : values) {
      query.addAll(List.of(parameter.name, value));
    }
    return operator.get(path, isQuery ? query.toArray(String[]::new) : new String[0]);
  }

  @ParameterizedTest
  @CsvSource({
    "%sT%s:00Z, 0",
    "%st%s:00z, 0",
    "%s %s:00+00:00, 0",
    "%sT%s:00+01:30, 90",
    "%sT%s:00-2300, -1380",
    "%sT%s:00+01, 60",
    "%sT%sZ, 0",
    "%sT%s:00.000000000000Z, 0"
  })
  void aTimeHasAnyFormWithAnOffset(String form, int offsetMinutes) {
    Instant local = Scenario.in(Duration.ofHours(2)).truncatedTo(ChronoUnit.MINUTES);
    String[] dateAndTime = local.toString().substring(0, "2026-11-24T18:30".length()).split("T", 2);
    String text = form.formatted(dateAndTime[0], dateAndTime[1]);

    assertThat(placed(text)).as(text).isEqualTo(local.minusSeconds(60L * offsetMinutes));
    operator.get("/api/v1/orders", "dueFrom", text, "dueTo", text).assertOk();
  }

  private Instant placed(String endsAt) {
    String body = "{\"moveDeadlines\":false,\"endsAt\":\"%s\",\"reason\":\"x\"}".formatted(endsAt);
    JsonNode pause =
        operator.postText("/api/v1/pauses", "application/json", body).assertOk().json();
    service.endPause(pause.path("id").asString());
    return Instant.parse(pause.path("endsAt").asString());
  }

  @Test
  void aPauseEndsWithinAYear() {
    Instant late = Scenario.in(Duration.ofDays(366)).truncatedTo(ChronoUnit.SECONDS);
    Map<String, Object> pause =
        Map.of("moveDeadlines", false, "endsAt", late.toString(), "reason", "x");
    assertThat(refusals(operator.post("/api/v1/pauses", pause)))
        .singleElement()
        .satisfies(
            refusal -> {
              assertThat(refusal.field()).isEqualTo("endsAt");
              assertThat(refusal.message()).contains(late + " is later than ", "365 days from now");
            });
    Instant possible = Scenario.in(Duration.ofDays(364)).truncatedTo(ChronoUnit.SECONDS);
    assertThat(placed(possible.toString())).isEqualTo(possible);
  }
}
