/** The way of an event, from record to record, with one instance that nothing happens to. */
@NullMarked
package io.ordertimeout.it.flow;

import org.jspecify.annotations.NullMarked;
