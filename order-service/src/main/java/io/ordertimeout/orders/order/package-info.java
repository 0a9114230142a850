/**
 * Step 2: every order with its payment deadline and state, in Postgres. This package owns the
 * tables order_deadline and payment_conflict, and with them every change of an order's state.
 */
@NullMarked
package io.ordertimeout.orders.order;

import org.jspecify.annotations.NullMarked;
