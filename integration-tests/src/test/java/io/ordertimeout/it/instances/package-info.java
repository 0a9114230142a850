/** Several instances: joining, leaving, restarting or freezing ones, and added partitions. */
@NullMarked
package io.ordertimeout.it.instances;

import org.jspecify.annotations.NullMarked;
