/** Tests of the watermark. */
@NullMarked
package io.ordertimeout.orders.watermark;

import org.jspecify.annotations.NullMarked;
