/**
 * What the tests stand on: a real Kafka and a real Postgres, the service on them, a shop, and what
 * comes out.
 */
@NullMarked
package io.ordertimeout.it.rig;

import org.jspecify.annotations.NullMarked;
