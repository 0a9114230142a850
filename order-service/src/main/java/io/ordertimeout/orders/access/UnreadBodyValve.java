package io.ordertimeout.orders.access;

import jakarta.servlet.ServletException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;
import org.apache.coyote.ActionCode;
import org.apache.tomcat.util.net.ApplicationBufferHandler;

/**
 * Closes a connection on which a request was answered before its body was read. Tomcat would read
 * the rest first, on one of its threads, for as long as the client likes.
 *
 * <p>A client that is still sending would lose the response with the connection. The rest is
 * therefore read and discarded for a moment, for a few connections at a time. Thread-safe.
 */
final class UnreadBodyValve extends ValveBase {

  private static final Duration LINGER = Duration.ofSeconds(1);
  private static final Duration POLL_INTERVAL = Duration.ofMillis(10);

  private final Semaphore lingering;

  /**
   * Creates the valve.
   *
   * @param maxLingering maximum number of connections whose rest is read at the same time
   */
  UnreadBodyValve(int maxLingering) {
    super(true);
    this.lingering = new Semaphore(maxLingering);
  }

  @Override
  public void invoke(Request request, Response response) throws IOException, ServletException {
    getNext().invoke(request, response);
    if (!hasBody(request) || request.isAsync() || isRead(request)) {
      return;
    }
    response.finishResponse();
    if (!request.getCoyoteRequest().hasExpectation() && lingering.tryAcquire()) {
      try {
        discardRest(request);
      } catch (IOException e) {
        // The client has closed the connection.
      } finally {
        lingering.release();
      }
    }
    if (!isRead(request)) {
      response.getCoyoteResponse().action(ActionCode.CLOSE_NOW, null);
    }
  }

  private static boolean hasBody(Request request) {
    return request.getContentLengthLong() > 0 || request.getHeader("Transfer-Encoding") != null;
  }

  private static boolean isRead(Request request) {
    AtomicBoolean read = new AtomicBoolean();
    request.getCoyoteRequest().action(ActionCode.REQUEST_BODY_FULLY_READ, read);
    return read.get();
  }

  private static void discardRest(Request request) throws IOException {
    long start = System.nanoTime();
    Discarding buffer = new Discarding();
    while (!isRead(request) && System.nanoTime() - start < LINGER.toNanos()) {
      // Waiting for data would take the body's whole timeout.
      request.getCoyoteRequest().action(ActionCode.AVAILABLE, true);
      if (request.getCoyoteRequest().getAvailable() > 0) {
        request.getCoyoteRequest().doRead(buffer);
        buffer.clear();
      } else {
        LockSupport.parkNanos(POLL_INTERVAL.toNanos());
      }
    }
  }

  /** Receives a part of a body, which nobody reads. */
  private static final class Discarding implements ApplicationBufferHandler {

    private ByteBuffer buffer = ByteBuffer.allocate(0);

    void clear() {
      buffer = ByteBuffer.allocate(0);
    }

    @Override
    public void setByteBuffer(ByteBuffer buffer) {
      this.buffer = buffer;
    }

    @Override
    public ByteBuffer getByteBuffer() {
      return buffer;
    }

    @Override
    public void expand(int size) {
      // The buffer is Tomcat's own.
    }
  }
}
