/** Several instances: more, fewer, one that dies or freezes, and more partitions to share. */
@NullMarked
package io.ordertimeout.it.instances;

import org.jspecify.annotations.NullMarked;
