/** Step 6: the events that are decided and committed, and their ids. */
@NullMarked
package io.ordertimeout.orders.outbox;

import org.jspecify.annotations.NullMarked;
