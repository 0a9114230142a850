package io.ordertimeout.it.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The examples in the OpenAPI document, and how strictly bodies are held to its schemas. */
class ApiExamplesTest {

  private final ApiSchemas schemas = ApiSchemas.read();

  @Test
  void everyExampleIsValid() {
    List<String> faults = new ArrayList<>();
    schemas
        .schemas()
        .properties()
        .forEach(
            schema -> {
              JsonNode example = schema.getValue().path("example");
              if (!example.isMissingNode()) {
                faults.addAll(faults(schema.getKey(), example.toString()));
              }
            });
    schemas
        .contents()
        .forEach(
            (name, content) -> {
              JsonNode example = content.path("example");
              if (!example.isMissingNode()) {
                faults.addAll(schemas.faults(name, content.path("schema"), example.toString()));
              }
            });
    assertThat(faults).isEmpty();
  }

  @Test
  void everyBodyOfARequestAndOfASuccessHasAnExample() {
    assertThat(schemas.contents()).hasSizeGreaterThan(40);
    schemas
        .contents()
        .forEach(
            (name, content) -> {
              String schema = content.at("/schema/$ref").asString("").replaceFirst(".*/", "");
              assertThat(content.has("example") || schemas.schemas().path(schema).has("example"))
                  .as(name)
                  .isTrue();
            });
  }

  @Test
  void everyParameterButACursorHasAValidExample() {
    List<String> faults = new ArrayList<>();
    operations()
        .forEach(
            operation ->
                operation
                    .path("parameters")
                    .forEach(
                        parameter -> {
                          String name = parameter.path("name").asString();
                          if (parameter.has("example")) {
                            faults.addAll(
                                schemas.faults(
                                    name,
                                    parameter.path("schema"),
                                    parameter.path("example").toString()));
                          } else if (!name.equals("after")) {
                            faults.add(operation.path("operationId") + " " + name);
                          }
                        }));
    assertThat(faults).isEmpty();
  }

  @Test
  void everyOperationHasATagThatIsDescribed() {
    List<String> described = schemas.document().path("tags").findValuesAsString("name");
    assertThat(operations())
        .extracting(operation -> operation.at("/tags/0").asString())
        .hasSizeGreaterThan(30)
        .allMatch(described::contains);
  }

  private List<JsonNode> operations() {
    return schemas.document().path("paths").findParents("operationId");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "Reason | {'reason':'x'} | 0",
        "Reason | {} | 1",
        "Reason | {'reason':1} | 1",
        "Reason | {'reason':'x','more':1} | 1",
        "PauseRequest | {'reason':'x','moveDeadlines':true,'endsAt':null} | 0",
        "PauseRequest | {'reason':'x','moveDeadlines':true,'endsAt':'soon'} | 2",
        "OrderBlocker | {'type':'unowned-shard','shard':1} | 0",
        "OrderBlocker | {'type':'watermark','shard':1,'instance':'a'} | 0",
      })
  void aBodyIsHeldToItsSchema(String schema, String body, int faults) {
    assertThat(faults(schema, body.replace('\'', '"'))).hasSize(faults);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'type':'unowned-shard','shard':1,'more':1}",
        "{'type':'unowned-shard'}",
        "{'type':'unknown','shard':1}",
        "{'shard':1}",
      })
  void noAlternativeIsAlsoAnother(String body) {
    assertThat(faults("OrderBlocker", body.replace('\'', '"'))).isNotEmpty();
  }

  private List<String> faults(String schema, String body) {
    return schemas.faults(
        schema,
        JsonMapper.shared().createObjectNode().put("$ref", "#/components/schemas/" + schema),
        body);
  }
}
