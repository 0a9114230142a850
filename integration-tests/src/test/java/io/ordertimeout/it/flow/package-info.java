/** Events processed by one instance without faults, from input record to output record. */
@NullMarked
package io.ordertimeout.it.flow;

import org.jspecify.annotations.NullMarked;
