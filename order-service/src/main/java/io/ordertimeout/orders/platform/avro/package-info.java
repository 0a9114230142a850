/** Values in Avro, and the schema registry that has their schemas. */
@NullMarked
package io.ordertimeout.orders.platform.avro;

import org.jspecify.annotations.NullMarked;
