/**
 * What tells of the service: metrics, rules, alerts, dashboards and runbooks, held to each other
 * and to a running service.
 */
@NullMarked
package io.ordertimeout.it.observability;

import org.jspecify.annotations.NullMarked;
