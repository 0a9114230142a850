/** Random faults of everything the service depends on, under load. Every order is judged. */
@NullMarked
package io.ordertimeout.it.chaos;

import org.jspecify.annotations.NullMarked;
