@NullMarked
package io.ordertimeout.orders.outbox;

import org.jspecify.annotations.NullMarked;
