package io.ordertimeout.it.support;

import static org.awaitility.Awaitility.await;

import java.time.Duration;

/** A running instance of the service, which owns shards and shares them with other instances. */
public sealed interface Instance permits Service, ServiceProcess {

  Duration PATIENCE = Duration.ofMinutes(2);

  /** The number of shards that it owns. */
  int ownedShards();

  /** Waits until it owns that many shards. */
  default void awaitOwnedShards(int shards) {
    await(shards + " shards").atMost(PATIENCE).until(() -> ownedShards() == shards);
  }

  /** Waits until both instances own some shards, and together all of them. */
  static void awaitShared(Instance one, Instance other) {
    await("a share for each instance")
        .atMost(PATIENCE)
        .until(() -> isShared(one.ownedShards(), other.ownedShards()));
  }

  private static boolean isShared(int one, int other) {
    return one > 0 && other > 0 && one + other == Scenario.PARTITIONS;
  }
}
