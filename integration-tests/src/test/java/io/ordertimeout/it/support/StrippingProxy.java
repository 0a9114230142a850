package io.ordertimeout.it.support;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A reverse proxy on the loopback address that serves a service below a path and strips that path
 * from requests. It leaves responses as they are, so redirects and cookies are the service's own.
 */
public final class StrippingProxy implements AutoCloseable {

  /** Headers that the JDK's client and server set by themselves, or that a connection has alone. */
  private static final Set<String> OWN_HEADERS =
      caseInsensitive("Connection", "Content-Length", "Host", "Transfer-Encoding", "Upgrade");

  private static final int NO_BODY = -1;
  private static final int CHUNKED = 0;
  private static final int BUFFER = 8_192;

  private final HttpClient client = HttpClient.newHttpClient();
  private final ExecutorService threads = Executors.newCachedThreadPool(StrippingProxy::daemon);
  private final HttpServer server;
  private final URI target;
  private final String path;
  private final boolean announcing;

  private StrippingProxy(HttpServer server, URI target, String path, boolean announcing) {
    this.server = server;
    this.target = target;
    this.path = path;
    this.announcing = announcing;
  }

  /** A proxy that tells the service the path in {@code X-Forwarded-Prefix}. */
  public static StrippingProxy announcing(String path, Http target) {
    return start(target, path, true);
  }

  /** A proxy that sends no forwarded headers. */
  public static StrippingProxy silent(String path, Http target) {
    return start(target, path, false);
  }

  private static StrippingProxy start(Http target, String path, boolean announcing) {
    try {
      HttpServer server =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      StrippingProxy proxy = new StrippingProxy(server, target.base(), path, announcing);
      server.setExecutor(proxy.threads);
      server.createContext(path, proxy::forward);
      server.start();
      return proxy;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Thread daemon(Runnable task) {
    Thread thread = new Thread(task, "stripping-proxy");
    thread.setDaemon(true);
    return thread;
  }

  private static Set<String> caseInsensitive(String... names) {
    Set<String> set = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    set.addAll(List.of(names));
    return set;
  }

  /** The address at which the proxy serves the service, without a slash at its end. */
  public URI uri() {
    return uri("127.0.0.1");
  }

  /** The same address by another name of this machine. */
  public URI uri(String host) {
    return URI.create("http://" + host + ":" + server.getAddress().getPort() + path);
  }

  private void forward(HttpExchange exchange) throws IOException {
    try (exchange) {
      HttpResponse<InputStream> response =
          client.send(request(exchange), HttpResponse.BodyHandlers.ofInputStream());
      response
          .headers()
          .map()
          .forEach(
              (name, values) -> {
                if (!OWN_HEADERS.contains(name) && !name.startsWith(":")) {
                  exchange.getResponseHeaders().put(name, values);
                }
              });
      boolean empty = response.statusCode() == 204 || response.statusCode() == 304;
      exchange.sendResponseHeaders(response.statusCode(), empty ? NO_BODY : CHUNKED);
      try (InputStream from = response.body()) {
        if (!empty) {
          copy(from, exchange.getResponseBody());
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private HttpRequest request(HttpExchange exchange) throws IOException {
    URI asked = exchange.getRequestURI();
    String rest = asked.getRawPath().substring(path.length());
    String query = asked.getRawQuery() == null ? "" : "?" + asked.getRawQuery();
    HttpRequest.Builder request =
        HttpRequest.newBuilder(target.resolve((rest.startsWith("/") ? rest : "/" + rest) + query))
            .method(
                exchange.getRequestMethod(),
                HttpRequest.BodyPublishers.ofByteArray(exchange.getRequestBody().readAllBytes()));
    Headers headers = exchange.getRequestHeaders();
    headers.forEach(
        (name, values) -> {
          if (!OWN_HEADERS.contains(name)) {
            values.forEach(value -> request.header(name, value));
          }
        });
    if (announcing) {
      String host = headers.getFirst("Host");
      request
          .setHeader("X-Forwarded-For", exchange.getRemoteAddress().getAddress().getHostAddress())
          .setHeader("X-Forwarded-Host", host)
          .setHeader("X-Forwarded-Port", host.substring(host.indexOf(':') + 1))
          .setHeader("X-Forwarded-Proto", "http")
          .setHeader("X-Forwarded-Prefix", path);
    }
    return request.build();
  }

  /** Passes on each part at once, because events must not wait for later ones. */
  private static void copy(InputStream from, OutputStream to) throws IOException {
    byte[] buffer = new byte[BUFFER];
    for (int length = from.read(buffer); length >= 0; length = from.read(buffer)) {
      to.write(buffer, 0, length);
      to.flush();
    }
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
