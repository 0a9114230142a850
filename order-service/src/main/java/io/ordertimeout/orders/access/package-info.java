/** Who may look and who may change. */
@NullMarked
package io.ordertimeout.orders.access;

import org.jspecify.annotations.NullMarked;
