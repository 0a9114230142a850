/**
 * The positions in Kafka that Postgres reflects: below which the input topics are stored, and below
 * which the service's own output topics were compared. Owns the tables intake_position and
 * published_position.
 */
@NullMarked
package io.ordertimeout.orders.position;

import org.jspecify.annotations.NullMarked;
