/** Step 4: the payment watermark, up to which all payments of a shard are known to be stored. */
@NullMarked
package io.ordertimeout.orders.watermark;

import org.jspecify.annotations.NullMarked;
