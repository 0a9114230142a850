package io.ordertimeout.it.support;

import io.ordertimeout.embedded.Ports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** An nginx of the machine in front of a service. */
public final class Nginx implements AutoCloseable {

  private static final String CONFIGURATION =
      """
      daemon off;
      pid nginx.pid;
      error_log stderr warn;
      events {}
      http {
        access_log off;
        client_body_temp_path body;
        proxy_temp_path proxy;
        fastcgi_temp_path fastcgi;
        uwsgi_temp_path uwsgi;
        scgi_temp_path scgi;
        server {
          listen 127.0.0.1:%d;
          %s
        }
      }
      """;

  private final Daemon daemon;
  private final int port;

  private Nginx(Daemon daemon, int port) {
    this.daemon = daemon;
    this.port = port;
  }

  /**
   * Starts it with the configuration of a server.
   *
   * @param server directives, in which {@code order-timeout:8080} is the service
   */
  public static Nginx start(String server, Http service) {
    int port = Ports.any();
    Path folder = Daemon.folder("nginx");
    Path file = folder.resolve("nginx.conf");
    try {
      Files.writeString(
          file,
          CONFIGURATION.formatted(
              port, server.replace("order-timeout:8080", service.base().getAuthority())));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    String program = Programs.path("nginx", "nginx-light").toString();
    return new Nginx(
        Daemon.start(
            folder, port, List.of(program, "-p", folder.toString(), "-c", file.toString())),
        port);
  }

  /** The address at which it serves a path. */
  public URI uri(String path) {
    return URI.create("http://127.0.0.1:" + port + path);
  }

  @Override
  public void close() {
    daemon.close();
  }
}
