/** Payments that are in Kafka, but not read yet. */
@NullMarked
package io.ordertimeout.it.watermark;

import org.jspecify.annotations.NullMarked;
