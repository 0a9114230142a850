/** Payments that lie in Kafka but are not read yet. */
@NullMarked
package io.ordertimeout.it.watermark;

import org.jspecify.annotations.NullMarked;
