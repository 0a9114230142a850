/** Tests of the publication of events. */
@NullMarked
package io.ordertimeout.orders.shard;

import org.jspecify.annotations.NullMarked;
