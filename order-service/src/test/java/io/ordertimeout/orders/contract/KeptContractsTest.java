package io.ordertimeout.orders.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.contract.ContractBreaks.Direction;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * No document breaks what a release promised. The documents of each release are kept in the
 * resources of the tests; {@code ./mvnw -pl order-service -am test -Dtest=KeptContractsTest
 * -Dcontracts.keep=0.1.0 -Dsurefire.failIfNoSpecifiedTests=false} keeps the present ones as those
 * of a release.
 */
class KeptContractsTest {

  private static final Path CURRENT = Path.of("src/main/resources/static/contracts");
  private static final Path KEPT = Path.of("src/test/resources/contracts");
  private static final Set<String> RECEIVED =
      Set.of(
          "order-created.schema.json",
          "order-paid.schema.json",
          "order-closed.schema.json",
          "order-payment-attempt.schema.json",
          "order-changed.schema.json");

  @BeforeAll
  static void keep() throws IOException {
    String version = System.getProperty("contracts.keep", "");
    if (!version.isEmpty()) {
      Path directory = Files.createDirectories(KEPT.resolve(version));
      for (Path document : list(CURRENT)) {
        Files.writeString(directory.resolve(document.getFileName()), Files.readString(document));
      }
    }
  }

  @Test
  void noDocumentBreaksTheContractsOfARelease() throws IOException {
    List<Path> releases = list(KEPT);
    assertThat(releases).isNotEmpty();
    for (Path release : releases) {
      List<Path> documents = list(release);
      assertThat(documents).hasSizeGreaterThan(6);
      for (Path document : documents) {
        Path current = CURRENT.resolve(document.getFileName());
        assertThat(current).as("what %s promised", document).exists();
        assertThat(breaks(document.getFileName().toString(), read(document), read(current)))
            .as("what the release %s promised in %s", release.getFileName(), current)
            .isEmpty();
      }
    }
  }

  private static List<String> breaks(String name, JsonNode older, JsonNode newer) {
    return switch (name) {
      case "openapi.json" -> ContractBreaks.ofOpenApi(older, newer);
      case "asyncapi.json" -> ContractBreaks.ofAsyncApi(older, newer);
      case "order-cancelled.avsc", "order-payment-conflict.avsc", "order-expiring.avsc" ->
          breaksOfAvro(avro(older), avro(newer));
      default ->
          ContractBreaks.ofSchema(
              older, newer, RECEIVED.contains(name) ? Direction.RECEIVED : Direction.SENT);
    };
  }

  /** What is written with the newer schema must be readable with the older one. */
  private static List<String> breaksOfAvro(Schema older, Schema newer) {
    return SchemaCompatibility.checkReaderWriterCompatibility(older, newer)
        .getResult()
        .getIncompatibilities()
        .stream()
        .map(String::valueOf)
        .toList();
  }

  private static Schema avro(JsonNode document) {
    return new Schema.Parser().parse(document.toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'name':'a','type':'long'} | {'name':'a','type':'long'},{'name':'b','type':'long'} | false",
        "{'name':'a','type':'long'} | {'name':'b','type':'long'} | true",
        "{'name':'a','type':'long'} | {'name':'a','type':['null','long']} | true",
      })
  void aChangedAvroSchemaBreaksItsReaders(String older, String newer, boolean isBroken) {
    String schema = "{'type':'record','name':'R','fields':[%s]}";
    List<String> breaks =
        breaksOfAvro(avro(json(schema.formatted(older))), avro(json(schema.formatted(newer))));
    assertThat(breaks.isEmpty()).isNotEqualTo(isBroken);
  }

  private static List<Path> list(Path directory) throws IOException {
    try (Stream<Path> paths = Files.list(directory)) {
      return new ArrayList<>(paths.sorted().toList());
    }
  }

  private static JsonNode read(Path document) throws IOException {
    return JsonMapper.shared().readTree(Files.readString(document));
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = " | ",
      quoteCharacter = '`',
      value = {
        // What is sent and received, and which of them the change breaks.
        "{'properties':{'a':{}}} | {} | RECEIVED SENT",
        "{} | {'properties':{'a':{}}} | -",
        "{'required':['a']} | {} | SENT",
        "{} | {'required':['a']} | RECEIVED",
        "{'type':'string'} | {'type':'integer'} | RECEIVED SENT",
        "{'type':['string','null']} | {'type':'string'} | RECEIVED",
        "{'type':'string'} | {'type':'string','nullable':true} | SENT",
        "{'type':'number'} | {'type':'integer'} | RECEIVED",
        "{'type':'string'} | {'type':'string','format':'date'} | RECEIVED",
        "{'type':'string','format':'date'} | {'type':'string'} | SENT",
        "{'enum':['A']} | {'enum':['A','B']} | SENT",
        "{'enum':['A','B']} | {'enum':['A']} | RECEIVED",
        "{'const':'A'} | {'const':'B'} | RECEIVED SENT",
        "{'maxLength':5} | {'maxLength':4} | RECEIVED",
        "{'maxLength':5} | {'maxLength':6} | SENT",
        "{} | {'minimum':1} | RECEIVED",
        "{'pattern':'a'} | {'pattern':'b'} | RECEIVED SENT",
        "{'pattern':'-?(a|b)'} | {'pattern':'-?(a|b|c)'} | SENT",
        "{'pattern':'-?(a|b)'} | {'pattern':'(a|b|c)'} | RECEIVED SENT",
        "{'pattern':'[ab]'} | {'pattern':'[abc]'} | RECEIVED SENT",
        "{'pattern':'(a|b)+'} | {'pattern':'(a|b)'} | RECEIVED SENT",
        "{'pattern':'a'} | {} | SENT",
        "{} | {'pattern':'a'} | RECEIVED",
        "{'items':{'type':'string'}} | {'items':{'type':'integer'}} | RECEIVED SENT",
        "{'oneOf':[{'type':'string'}]} | {'oneOf':[{'type':'string'},{}]} | SENT",
        "{'$ref':'#/d/a','d':{'a':{'enum':['A']}}} | {'$ref':'#/d/b','d':{'b':{'enum':['A']}}} | -",
        "{'$ref':'#/d/a','d':{'a':{'enum':['A']}}} | {'enum':['B']} | RECEIVED SENT",
      })
  void aChangedSchemaBreaksThoseWhoRelyOnIt(String older, String newer, String broken) {
    for (Direction direction : Direction.values()) {
      assertThat(ContractBreaks.ofSchema(json(older), json(newer), direction).isEmpty())
          .as(direction.toString())
          .isNotEqualTo(broken.contains(direction.name()));
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{} | was removed",
        "{'operationId':'b'} | another operationId",
        "{'operationId':'a','parameters':[]} | no parameter query p",
        "{'operationId':'a','parameters':[{'in':'query','name':'p'},{'in':'query','name':'q','required':true}]}"
            + " | requires the parameter query q",
        "{'operationId':'a','parameters':[{'in':'query','name':'p','required':true}]}"
            + " | requires the parameter query p",
        "{'operationId':'a','parameters':[{'in':'query','name':'p','schema':{'enum':['A']}}]} | enum",
        "{'operationId':'a','requestBody':{'required':true}} | requires a body",
        "{'operationId':'a','responses':{}} | no response 200",
        "{'operationId':'a','responses':{'200':{'content':{}}}} | no application/json",
        "{'operationId':'a','responses':{'200':{'content':{'application/json':{'schema':{'enum':['A','B']}}}}}}"
            + " | enum was [A] and is [A, B]",
      })
  void aChangedOperationBreaksItsClients(String newer, String expected) {
    String older =
        "{'operationId':'a','parameters':[{'in':'query','name':'p'}],'responses':{'200':{'content':"
            + "{'application/json':{'schema':{'enum':['A']}}}}}}";
    assertThat(ContractBreaks.ofOpenApi(api(older), api(older))).isEmpty();
    assertThat(ContractBreaks.ofOpenApi(api(older), newer.equals("{}") ? json("{}") : api(newer)))
        .anySatisfy(text -> assertThat(text).contains(expected));
  }

  private static JsonNode api(String operation) {
    return json("{'paths':{'/x':{'get':" + operation + "}}}");
  }

  @Test
  void aRemovedTopicBreaksItsReaders() {
    JsonNode older =
        json(
            "{'channels':{'a':{'address':'t'}},"
                + "'operations':{'o':{'action':'send','channel':{'$ref':'#/channels/a'}}}}");
    assertThat(ContractBreaks.ofAsyncApi(older, older)).isEmpty();
    assertThat(ContractBreaks.ofAsyncApi(older, json("{}"))).hasSize(1);
  }

  private static JsonNode json(String text) {
    return JsonMapper.shared().readTree(text.replace('\'', '"'));
  }
}
