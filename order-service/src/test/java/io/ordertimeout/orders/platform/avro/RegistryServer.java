package io.ordertimeout.orders.platform.avro;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.ordertimeout.orders.OrderTimeoutProperties;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import tools.jackson.databind.json.JsonMapper;

/** A server with the API of a schema registry, whose answers tests choose. */
public final class RegistryServer implements AutoCloseable {

  static {
    // Without it, each answer takes 40 ms.
    System.setProperty("sun.net.httpserver.nodelay", "true");
  }

  /** An answer. */
  private record Answer(int status, String body) {}

  private final HttpServer server;
  private final Map<String, Answer> answers = new ConcurrentHashMap<>();
  private final List<String> requests = Collections.synchronizedList(new ArrayList<>());
  private volatile @Nullable String authorization;
  private volatile @Nullable String body;
  private volatile CountDownLatch silence = new CountDownLatch(0);

  public RegistryServer() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.createContext("/", this::answer);
    server.start();
  }

  public String url() {
    return "http://localhost:" + server.getAddress().getPort();
  }

  /** Creates a client of this server that does not depend on how fast it answers. */
  public SchemaRegistry client(Map<String, String> settings) {
    return new SchemaRegistry(properties(settings), AvroValues.PATIENCE);
  }

  /** Returns the properties of clients of this server. */
  OrderTimeoutProperties properties(Map<String, String> settings) {
    MapConfigurationPropertySource source = new MapConfigurationPropertySource();
    source.put("order-timeout.schema-registry.url", url());
    settings.forEach((name, value) -> source.put("order-timeout.schema-registry." + name, value));
    return new Binder(source).bindOrCreate("order-timeout", OrderTimeoutProperties.class);
  }

  /** Answers with that schema. */
  public void has(int id, Schema schema) {
    answer(200, "/schemas/ids/" + id, Map.of("schema", schema.toString()));
  }

  public void answer(int status, String path, Object body) {
    answers.put(path, new Answer(status, JsonMapper.shared().writeValueAsString(body)));
  }

  /** Receives requests without an answer until {@link #answerAgain()}. */
  void beSilent() {
    silence = new CountDownLatch(1);
  }

  /** Answers all requests. */
  void answerAgain() {
    silence.countDown();
  }

  List<String> requests() {
    return requests;
  }

  /** The body of the last request. */
  @Nullable String body() {
    return body;
  }

  @Nullable String authorization() {
    return authorization;
  }

  private void answer(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getRawPath();
    requests.add(path);
    authorization = exchange.getRequestHeaders().getFirst("Authorization");
    body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
    try {
      silence.await();
    } catch (InterruptedException e) {
      throw new InterruptedIOException(e.toString());
    }
    Answer answer =
        answers.getOrDefault(
            path, new Answer(404, "{\"error_code\":40403,\"message\":\"Schema not found\"}"));
    byte[] content = answer.body.getBytes(UTF_8);
    exchange.sendResponseHeaders(answer.status, content.length);
    exchange.getResponseBody().write(content);
    exchange.close();
  }

  /** Frames a value as Confluent's serializers do. */
  public static byte[] framed(int id, Schema schema, Object value) {
    byte[] data = binary(schema, value);
    return ByteBuffer.allocate(5 + data.length).put((byte) 0).putInt(id).put(data).array();
  }

  /** Encodes a value with Avro's own writer. */
  static byte[] binary(Schema schema, Object value) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
    try {
      new GenericDatumWriter<>(schema).write(value, encoder);
      encoder.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** Refuses connections from now on. */
  public void stop() {
    answerAgain();
    server.stop(0);
  }

  @Override
  public void close() {
    stop();
  }
}
