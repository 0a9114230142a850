package io.ordertimeout.it.flow;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.avro.Schema;
import tools.jackson.databind.json.JsonMapper;

/**
 * A schema registry in memory, with the part of Confluent's API that the service uses. Its answers
 * are those of Apicurio Registry 3.0.9, which takes 110 MB to download and half a minute to start.
 * Thread-safe.
 */
final class SchemaRegistryServer implements AutoCloseable {

  private static final String BY_ID = "/schemas/ids/";
  private static final String SUBJECTS = "/subjects/";

  private final HttpServer server;
  private final List<Schema> schemas = new CopyOnWriteArrayList<>();
  private final Map<String, Integer> subjects = new ConcurrentHashMap<>();
  private volatile boolean isReadOnly;

  private SchemaRegistryServer(HttpServer server) {
    this.server = server;
  }

  static SchemaRegistryServer start() throws IOException {
    SchemaRegistryServer registry =
        new SchemaRegistryServer(
            HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0));
    registry.server.createContext(BY_ID, registry::answerById);
    registry.server.createContext(SUBJECTS, registry::answerSubject);
    registry.server.start();
    return registry;
  }

  int port() {
    return server.getAddress().getPort();
  }

  /** Registers a schema; returns its id. */
  synchronized int register(Schema schema) {
    if (!schemas.contains(schema)) {
      schemas.add(schema);
    }
    return schemas.indexOf(schema) + 1;
  }

  /** The schema with that id. */
  Schema schema(int id) {
    return schemas.get(id - 1);
  }

  /** The ids of the schemas that were registered by requests, by subject. */
  Map<String, Integer> subjects() {
    return subjects;
  }

  /** Lets requests register schemas, or fail as if the registry had just lost its leader. */
  void setReadOnly(boolean readOnly) {
    isReadOnly = readOnly;
  }

  private void answerSubject(HttpExchange exchange) throws IOException {
    String[] path = exchange.getRequestURI().getPath().split("/", -1);
    String subject = path[2];
    String schema =
        JsonMapper.shared()
            .readTree(exchange.getRequestBody().readAllBytes())
            .path("schema")
            .stringValue();
    boolean isLookUp = path.length == 3;
    if (isLookUp) {
      answer(
          exchange,
          404,
          Map.of(
              "message", "No artifact with ID '" + subject + "' was found.", "error_code", 40401));
    } else if (isReadOnly) {
      answer(exchange, 503, Map.of("message", "no leader", "error_code", 50003));
    } else {
      int id = register(new Schema.Parser().parse(schema));
      subjects.put(subject, id);
      answer(exchange, 200, Map.of("id", id));
    }
  }

  private void answerById(HttpExchange exchange) throws IOException {
    int id = Integer.parseInt(exchange.getRequestURI().getPath().substring(BY_ID.length()));
    if (id < 1 || id > schemas.size()) {
      answer(
          exchange,
          404,
          Map.of("message", "No content with ID '" + id + "' was found.", "error_code", 40403));
    } else {
      answer(
          exchange,
          200,
          Map.of(
              "schema", schemas.get(id - 1).toString(),
              "schemaType", "AVRO",
              "references", List.of()));
    }
  }

  private static void answer(HttpExchange exchange, int status, Object content) throws IOException {
    byte[] body = JsonMapper.shared().writeValueAsBytes(content);
    try (exchange) {
      exchange.getResponseHeaders().add("Content-Type", "application/json");
      exchange.sendResponseHeaders(status, body.length);
      exchange.getResponseBody().write(body);
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
