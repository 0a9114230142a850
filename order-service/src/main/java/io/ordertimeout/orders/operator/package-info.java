/** What operators look at: health and metrics. */
@NullMarked
package io.ordertimeout.orders.operator;

import org.jspecify.annotations.NullMarked;
