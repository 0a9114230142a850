/**
 * Metrics, rules, alerts, dashboards and runbooks, checked against each other and against a running
 * service.
 */
@NullMarked
package io.ordertimeout.it.observability;

import org.jspecify.annotations.NullMarked;
