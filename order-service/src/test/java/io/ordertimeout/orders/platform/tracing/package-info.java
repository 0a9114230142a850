/** Tests of tracing. */
@NullMarked
package io.ordertimeout.orders.platform.tracing;

import org.jspecify.annotations.NullMarked;
