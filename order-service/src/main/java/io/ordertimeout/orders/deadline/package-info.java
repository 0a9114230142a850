/** What is known of every order: its payment deadline and its state, in Postgres. */
@NullMarked
package io.ordertimeout.orders.deadline;

import org.jspecify.annotations.NullMarked;
