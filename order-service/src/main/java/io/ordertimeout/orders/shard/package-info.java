/** Which shards this instance owns, and their timing wheels, rebuilt from Postgres. */
@NullMarked
package io.ordertimeout.orders.shard;

import org.jspecify.annotations.NullMarked;
