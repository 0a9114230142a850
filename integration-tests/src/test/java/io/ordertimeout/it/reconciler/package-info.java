/** Differences planted between wheel and table, which the reconciler must find and repair. */
@NullMarked
package io.ordertimeout.it.reconciler;

import org.jspecify.annotations.NullMarked;
