package io.ordertimeout.orders.benchmarks.contender;

import io.ordertimeout.orders.benchmarks.servers.ChildJvm;
import io.ordertimeout.orders.benchmarks.servers.Waiting;
import io.ordertimeout.orders.benchmarks.traffic.Shop;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A shop's own service around a peer. */
public final class PeerProcess implements Contender {

  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final Peer peer;
  private final String heap;
  private final Shop shop;
  private @Nullable ChildJvm process;

  public PeerProcess(Peer peer, String heap, Shop shop) {
    this.peer = peer;
    this.heap = heap;
    this.shop = shop;
  }

  @Override
  public void start() {
    Path log = shop.servers().directory().resolve(shop.name() + ".log");
    ChildJvm started =
        ChildJvm.ofClass(
            log,
            heap,
            PeerMain.class,
            List.of(
                peer.name(),
                shop.servers().bootstrapServers(),
                shop.group(),
                shop.created(),
                shop.paid(),
                shop.cancelled(),
                shop.database().url(),
                shop.database().user(),
                shop.database().password()));
    process = started;
    Waiting.until(() -> isReady(log) || !started.isAlive(), PATIENCE);
    if (!isReady(log)) {
      throw new IllegalStateException(peer.title() + " has not started, see " + log);
    }
  }

  private static boolean isReady(Path log) {
    try {
      return Files.readString(log).contains(PeerMain.READY);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public List<ChildJvm> processes() {
    return process == null ? List.of() : List.of(process);
  }

  @Override
  public void close() {
    if (process != null) {
      process.close();
    }
  }
}
