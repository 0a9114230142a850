package io.ordertimeout.it.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A server that answers every byte with the next, behind a proxy. */
class TcpProxyTest {

  private static final int PATIENCE_MILLIS = 20_000;

  private final ServerSocket server = listen();
  private final TcpProxy proxy = TcpProxy.to(server.getLocalPort());

  private static ServerSocket listen() {
    try {
      return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @BeforeEach
  void serve() {
    Thread thread = new Thread(this::accept);
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket socket = server.accept();
        Thread thread = new Thread(() -> answer(socket));
        thread.setDaemon(true);
        thread.start();
      } catch (IOException e) {
        // closed
      }
    }
  }

  private static void answer(Socket socket) {
    try (socket) {
      for (int b = socket.getInputStream().read(); b >= 0; b = socket.getInputStream().read()) {
        socket.getOutputStream().write(b + 1);
      }
    } catch (IOException e) {
      // cut
    }
  }

  @AfterEach
  void close() throws IOException {
    proxy.close();
    server.close();
  }

  @Test
  void forwardsBothWays() throws IOException {
    try (Socket one = connect();
        Socket other = connect()) {
      one.getOutputStream().write(1);
      other.getOutputStream().write(7);
      assertThat(one.getInputStream().read()).isEqualTo(2);
      assertThat(other.getInputStream().read()).isEqualTo(8);
    }
  }

  @Test
  void aCutEndsConnectionsAndNewOnesAreWelcome() throws IOException {
    try (Socket one = connect()) {
      one.getOutputStream().write(1);
      assertThat(one.getInputStream().read()).isEqualTo(2);

      proxy.cut();

      assertEnded(one);
    }
    forwardsBothWays();
  }

  @Test
  void refusedConnectionsEndUntilItIsRestored() throws IOException {
    try (Socket one = connect()) {
      one.getOutputStream().write(1);
      assertThat(one.getInputStream().read()).isEqualTo(2);

      proxy.refuse();

      assertEnded(one);
    }
    assertThatThrownBy(
            () -> {
              try (Socket refused = connect()) {
                refused.getOutputStream().write(1);
                if (refused.getInputStream().read() < 0) {
                  throw new IOException("ended");
                }
              }
            })
        .isInstanceOf(IOException.class)
        .isNotInstanceOf(SocketTimeoutException.class);
    proxy.restore();
    forwardsBothWays();
  }

  @Test
  void aBlackHoleKeepsEverythingUntilItIsRestored() throws IOException {
    try (Socket before = connect()) {
      before.getOutputStream().write(1);
      assertThat(before.getInputStream().read()).isEqualTo(2);

      proxy.blackHole();

      try (Socket meanwhile = connect()) {
        before.getOutputStream().write(5);
        meanwhile.getOutputStream().write(7);
        assertNoAnswer(before);
        assertNoAnswer(meanwhile);

        proxy.restore();

        assertThat(before.getInputStream().read()).isEqualTo(6);
        assertThat(meanwhile.getInputStream().read()).isEqualTo(8);
      }
    }
  }

  @Test
  void aRedirectionConcernsNewConnections() throws IOException {
    try (ServerSocket other = listen();
        Socket before = connect()) {
      before.getOutputStream().write(1);
      assertThat(before.getInputStream().read()).isEqualTo(2);

      proxy.redirect(other.getLocalPort());

      before.getOutputStream().write(1);
      assertThat(before.getInputStream().read()).isEqualTo(2);
      try (Socket after = connect();
          Socket accepted = other.accept()) {
        after.getOutputStream().write(7);
        assertThat(accepted.getInputStream().read()).isEqualTo(7);
      }
    }
  }

  @Test
  void aBlackHoleCanBeCut() throws IOException {
    try (Socket one = connect()) {
      one.getOutputStream().write(1);
      assertThat(one.getInputStream().read()).isEqualTo(2);
      proxy.blackHole();
      one.getOutputStream().write(1);

      proxy.cut();

      assertEnded(one);
    }
    proxy.restore();
    forwardsBothWays();
  }

  private static void assertNoAnswer(Socket socket) throws IOException {
    socket.setSoTimeout(200);
    assertThatThrownBy(() -> socket.getInputStream().read())
        .isInstanceOf(SocketTimeoutException.class);
    socket.setSoTimeout(PATIENCE_MILLIS);
  }

  private static void assertEnded(Socket socket) {
    int read;
    try {
      read = socket.getInputStream().read();
    } catch (SocketTimeoutException e) {
      throw new AssertionError("still open", e);
    } catch (IOException e) {
      return;
    }
    assertThat(read).isNegative();
  }

  private Socket connect() throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
    socket.setSoTimeout(PATIENCE_MILLIS);
    return socket;
  }
}
