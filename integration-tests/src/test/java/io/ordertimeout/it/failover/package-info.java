/** Postgres servers that lose commits: failovers, restored backups, positions set back. */
@NullMarked
package io.ordertimeout.it.failover;

import org.jspecify.annotations.NullMarked;
