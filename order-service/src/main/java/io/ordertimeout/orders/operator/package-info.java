/** What operators look at and change: how all stands, one order, pauses; health and metrics. */
@NullMarked
package io.ordertimeout.orders.operator;

import org.jspecify.annotations.NullMarked;
