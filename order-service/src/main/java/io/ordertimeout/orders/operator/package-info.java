/** What operators can look up and change: orders, pauses, holds, dead letters. */
@NullMarked
package io.ordertimeout.orders.operator;

import org.jspecify.annotations.NullMarked;
