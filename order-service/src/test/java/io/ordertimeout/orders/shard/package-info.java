/** Tests of what an instance does for its shards. */
@NullMarked
package io.ordertimeout.orders.shard;

import org.jspecify.annotations.NullMarked;
