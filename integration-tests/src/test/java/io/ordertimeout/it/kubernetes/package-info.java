/** The Helm chart, tested without a cluster. */
@NullMarked
package io.ordertimeout.it.kubernetes;

import org.jspecify.annotations.NullMarked;
