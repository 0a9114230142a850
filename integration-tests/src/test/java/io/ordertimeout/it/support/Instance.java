package io.ordertimeout.it.support;

import static org.awaitility.Awaitility.await;

/** A running instance of the service, which owns shards and shares them with other instances. */
public sealed interface Instance permits Service, ServiceProcess {

  /** The number of shards that it owns. */
  int ownedShards();

  /** Waits until it owns that many shards. */
  default void awaitOwnedShards(int shards) {
    await(shards + " shards").until(() -> ownedShards() == shards);
  }

  /** Waits until both instances own some shards, and together all of them. */
  static void awaitShared(Instance one, Instance other) {
    await("a share for each instance")
        .until(() -> isShared(one.ownedShards(), other.ownedShards()));
  }

  private static boolean isShared(int one, int other) {
    return one > 0 && other > 0 && one + other == Scenario.PARTITIONS;
  }
}
