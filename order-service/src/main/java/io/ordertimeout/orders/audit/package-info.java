/** The audit log: who changed what, when and why. */
@NullMarked
package io.ordertimeout.orders.audit;

import org.jspecify.annotations.NullMarked;
