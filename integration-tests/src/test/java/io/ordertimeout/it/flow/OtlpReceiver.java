package io.ordertimeout.it.flow;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/** A trace collector that keeps the spans it receives. Thread-safe. */
final class OtlpReceiver implements AutoCloseable {

  /** A span as it was exported, its ids in hexadecimal. */
  record ReceivedSpan(
      String traceId,
      String id,
      String parentId,
      String name,
      String kind,
      Instant start,
      Instant end,
      Map<String, String> attributes) {}

  private final HttpServer server;
  private final Queue<ReceivedSpan> spans = new ConcurrentLinkedQueue<>();
  private final AtomicInteger requests = new AtomicInteger();

  private OtlpReceiver(HttpServer server) {
    this.server = server;
  }

  static OtlpReceiver start() throws IOException {
    OtlpReceiver receiver =
        new OtlpReceiver(
            HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0));
    receiver.server.createContext("/", receiver::answer);
    receiver.server.start();
    return receiver;
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      requests.incrementAndGet();
      ExportTraceServiceRequest.parseFrom(exchange.getRequestBody()).getResourceSpansList().stream()
          .flatMap(resource -> resource.getScopeSpansList().stream())
          .flatMap(scope -> scope.getSpansList().stream())
          .map(OtlpReceiver::received)
          .forEach(spans::add);
      // An empty body means complete success.
      exchange.getResponseHeaders().add("Content-Type", "application/x-protobuf");
      exchange.sendResponseHeaders(200, -1);
    }
  }

  private static ReceivedSpan received(Span span) {
    HexFormat hex = HexFormat.of();
    return new ReceivedSpan(
        hex.formatHex(span.getTraceId().toByteArray()),
        hex.formatHex(span.getSpanId().toByteArray()),
        hex.formatHex(span.getParentSpanId().toByteArray()),
        span.getName(),
        span.getKind().name().replace("SPAN_KIND_", ""),
        Instant.EPOCH.plus(span.getStartTimeUnixNano(), ChronoUnit.NANOS),
        Instant.EPOCH.plus(span.getEndTimeUnixNano(), ChronoUnit.NANOS),
        span.getAttributesList().stream()
            .collect(Collectors.toMap(KeyValue::getKey, OtlpReceiver::text)));
  }

  private static String text(KeyValue attribute) {
    return attribute.getValue().hasIntValue()
        ? Long.toString(attribute.getValue().getIntValue())
        : attribute.getValue().getStringValue();
  }

  String endpoint() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/v1/traces";
  }

  /** The number of requests received. */
  int requests() {
    return requests.get();
  }

  List<ReceivedSpan> spans() {
    return List.copyOf(spans);
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
