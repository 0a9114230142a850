/**
 * The status of the whole system, which every instance assembles from the reports of all instances.
 */
@NullMarked
package io.ordertimeout.orders.operator.status;

import org.jspecify.annotations.NullMarked;
