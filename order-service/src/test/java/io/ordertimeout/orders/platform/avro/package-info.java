@NullMarked
package io.ordertimeout.orders.platform.avro;

import org.jspecify.annotations.NullMarked;
