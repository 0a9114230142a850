/**
 * Step 3: the shards that this instance owns and their timing wheels, which are rebuilt from
 * Postgres.
 */
@NullMarked
package io.ordertimeout.orders.shard;

import org.jspecify.annotations.NullMarked;
