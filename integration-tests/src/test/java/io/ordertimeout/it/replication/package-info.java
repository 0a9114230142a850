/** Partitions that change their leader, and leaders that do not know it. */
@NullMarked
package io.ordertimeout.it.replication;

import org.jspecify.annotations.NullMarked;
