package io.ordertimeout.it.support;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * A connection on which a test sends the beginning of a request and reads the whole response,
 * without ever sending the rest.
 */
public final class RawHttp implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Socket socket;

  private RawHttp(Socket socket) {
    this.socket = socket;
  }

  /** Connects and sends a text; its line breaks become those of HTTP. */
  public static RawHttp send(URI server, String text) throws IOException {
    Socket socket = new Socket(server.getHost(), server.getPort());
    try {
      socket.setSoTimeout((int) PATIENCE.toMillis());
      socket.getOutputStream().write(text.replace("\n", "\r\n").getBytes(StandardCharsets.UTF_8));
      return new RawHttp(socket);
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /** Reads the response up to the end of the connection, which the server has to close. */
  public String response() throws IOException {
    InputStream stream = socket.getInputStream();
    return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
  }

  /** Whether a response, or its beginning, has arrived. */
  public boolean hasResponse() throws IOException {
    return socket.getInputStream().available() > 0;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
