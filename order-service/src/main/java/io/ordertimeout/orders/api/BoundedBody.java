package io.ordertimeout.orders.api;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Serial;
import java.net.SocketTimeoutException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.springframework.http.HttpStatus;

/** A request whose body can be read only up to a size and within a time. Not thread-safe. */
public final class BoundedBody extends HttpServletRequestWrapper {

  /** The body is too large or arrives too slowly. */
  public static final class LimitExceededException extends IOException {

    @Serial private static final long serialVersionUID = 1L;

    private final HttpStatus status;

    LimitExceededException(HttpStatus status, String message) {
      super(message);
      this.status = status;
    }

    /** Returns the status of the response. */
    public HttpStatus status() {
      return status;
    }

    @Override
    public String getMessage() {
      return String.valueOf(super.getMessage());
    }
  }

  private final long maxBytes;
  private final Duration timeout;

  /**
   * Creates the request.
   *
   * @param maxBytes size of the largest body that can be read
   * @param timeout time within which it can be read
   */
  public BoundedBody(HttpServletRequest request, long maxBytes, Duration timeout) {
    super(request);
    this.maxBytes = maxBytes;
    this.timeout = timeout;
  }

  @Override
  public ServletInputStream getInputStream() throws IOException {
    return new Stream(super.getInputStream());
  }

  @Override
  public BufferedReader getReader() throws IOException {
    String encoding = getCharacterEncoding();
    return new BufferedReader(
        new InputStreamReader(
            getInputStream(),
            encoding == null ? StandardCharsets.UTF_8 : Charset.forName(encoding)));
  }

  private final class Stream extends ServletInputStream {

    private final ServletInputStream body;
    private final long startNanos = System.nanoTime();
    private long bytes;

    Stream(ServletInputStream body) {
      this.body = body;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
    }

    @Override
    public int read(byte[] buffer, int offset, int length) throws IOException {
      if (System.nanoTime() - startNanos > timeout.toNanos()) {
        throw tooSlow();
      }
      int read;
      try {
        read = body.read(buffer, offset, length);
      } catch (IOException e) {
        // Tomcat wraps the exception in one of its own.
        throw e instanceof SocketTimeoutException || e.getCause() instanceof SocketTimeoutException
            ? tooSlow()
            : e;
      }
      bytes += Math.max(0, read);
      if (bytes > maxBytes) {
        throw new LimitExceededException(
            HttpStatus.CONTENT_TOO_LARGE, "the body exceeds the maximum of " + maxBytes + " bytes");
      }
      return read;
    }

    private LimitExceededException tooSlow() {
      return new LimitExceededException(
          HttpStatus.REQUEST_TIMEOUT, "the body did not arrive within " + timeout);
    }

    @Override
    public boolean isFinished() {
      return body.isFinished();
    }

    @Override
    public boolean isReady() {
      return body.isReady();
    }

    @Override
    public void setReadListener(ReadListener listener) {
      body.setReadListener(listener);
    }

    @Override
    public int available() throws IOException {
      return body.available();
    }

    @Override
    public void close() throws IOException {
      body.close();
    }
  }
}
