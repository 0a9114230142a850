package io.ordertimeout.orders.order;

import java.util.Arrays;

/**
 * Orders whose next stage has come, of one shard or of several. Immutable.
 *
 * @param shards the shards of the orders
 * @param ids the orders' rows
 * @param watermark the watermark of all of these shards, read after the stages had come
 */
// Arrays, since the wheel gives arrays and statements take them; nothing compares them.
@SuppressWarnings("ArrayRecordComponent")
public record DueOrders(int[] shards, long[] ids, Watermark watermark) {

  /** Orders of one shard. */
  public static DueOrders of(int shard, long[] ids, Watermark watermark) {
    return new DueOrders(new int[] {shard}, ids, watermark);
  }

  public int size() {
    return ids.length;
  }

  /** The orders from one index, inclusive, to another, exclusive. */
  public DueOrders part(int from, int to) {
    return new DueOrders(shards, Arrays.copyOfRange(ids, from, to), watermark);
  }

  /** Says how many there are, of which shards. */
  @Override
  public String toString() {
    return ids.length + " orders of the shards " + Arrays.toString(shards);
  }
}
