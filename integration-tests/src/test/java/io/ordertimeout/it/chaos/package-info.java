/** Everything fails, at random, while orders come and go; in the end every order is judged. */
@NullMarked
package io.ordertimeout.it.chaos;

import org.jspecify.annotations.NullMarked;
