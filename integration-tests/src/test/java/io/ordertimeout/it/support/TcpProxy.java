package io.ordertimeout.it.support;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A proxy on the loopback address that can interrupt the connections to a server. Uses two threads
 * per connection. Thread-safe.
 */
public final class TcpProxy implements AutoCloseable {

  private enum Mode {
    FORWARD,
    REFUSE,
    BLACK_HOLE
  }

  private static final int BUFFER = 16_384;

  private final ServerSocket server;
  private volatile InetSocketAddress target;
  private final Set<Link> links = ConcurrentHashMap.newKeySet();
  private final Object gate = new Object();

  /** Guarded by the gate. */
  private Mode mode = Mode.FORWARD;

  private TcpProxy(ServerSocket server, InetSocketAddress target) {
    this.server = server;
    this.target = target;
  }

  /** A proxy on a free port to a port of the loopback address. */
  public static TcpProxy to(int targetPort) {
    try {
      InetAddress loopback = InetAddress.getLoopbackAddress();
      ServerSocket server = new ServerSocket(0, 200, loopback);
      TcpProxy proxy = new TcpProxy(server, new InetSocketAddress(loopback, targetPort));
      daemon("proxy-" + server.getLocalPort(), proxy::accept);
      return proxy;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public int port() {
    return server.getLocalPort();
  }

  /** Connects new connections to another port of the loopback address. */
  public void redirect(int targetPort) {
    target = new InetSocketAddress(InetAddress.getLoopbackAddress(), targetPort);
  }

  /** Resets all connections and accepts new ones. */
  public void cut() {
    links.forEach(Link::close);
  }

  /** Resets all connections, and new ones as soon as they are established. */
  public void refuse() {
    become(Mode.REFUSE);
    cut();
  }

  /** Accepts connections and data without forwarding anything. */
  public void blackHole() {
    become(Mode.BLACK_HOLE);
  }

  /** Forwards data again, including what arrived in the meantime. */
  public void restore() {
    become(Mode.FORWARD);
  }

  private void become(Mode next) {
    synchronized (gate) {
      mode = next;
      gate.notifyAll();
    }
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Link link = new Link(server.accept());
        links.add(link);
        daemon("proxy-link", link::open);
      } catch (IOException e) {
        // The server is closed, or the client is gone already.
      }
    }
  }

  private static void daemon(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    become(Mode.REFUSE);
    cut();
  }

  /** One connection of a client, and the one to the server that belongs to it. */
  private final class Link {

    private final Socket client;
    private volatile @Nullable Socket upstream;
    private volatile boolean closed;

    Link(Socket client) {
      this.client = client;
    }

    void open() {
      try {
        if (!awaitForwarding()) {
          close();
          return;
        }
        Socket to = new Socket();
        upstream = to;
        to.connect(target);
        to.setTcpNoDelay(true);
        client.setTcpNoDelay(true);
        daemon("proxy-back", () -> pump(to, client));
        pump(client, to);
      } catch (IOException e) {
        close();
      }
    }

    private void pump(Socket from, Socket to) {
      byte[] buffer = new byte[BUFFER];
      try {
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream();
        int length = in.read(buffer);
        while (length >= 0 && awaitForwarding()) {
          out.write(buffer, 0, length);
          length = in.read(buffer);
        }
      } catch (IOException e) {
        // Closed below, on both sides.
      }
      close();
    }

    /** Waits while nothing is forwarded; returns false if this connection is to end. */
    private boolean awaitForwarding() {
      synchronized (gate) {
        while (mode == Mode.BLACK_HOLE && !closed) {
          try {
            gate.wait();
          } catch (InterruptedException e) {
            return false;
          }
        }
        return mode == Mode.FORWARD && !closed;
      }
    }

    void close() {
      closed = true;
      links.remove(this);
      reset(client);
      Socket to = upstream;
      if (to != null) {
        reset(to);
      }
      synchronized (gate) {
        gate.notifyAll();
      }
    }

    private static void reset(Socket socket) {
      try {
        // Resets the connection instead of closing it in order.
        socket.setSoLinger(true, 0);
        socket.close();
      } catch (IOException e) {
        // It is closed already.
      }
    }
  }
}
