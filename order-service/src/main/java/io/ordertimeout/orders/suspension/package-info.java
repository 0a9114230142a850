/**
 * Everything that keeps due orders from being cancelled: pauses, holds, parked orders, outages and
 * payments that are under way. Each type owns its table and offers its rule as a named SQL
 * condition.
 */
@NullMarked
package io.ordertimeout.orders.suspension;

import org.jspecify.annotations.NullMarked;
